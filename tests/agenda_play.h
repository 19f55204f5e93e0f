/**
 * @file agenda_play.h
 * Plays the worker of an agenda: what cuDNN has is told, and what the agenda
 * has it do is written down.
 *
 * Engine 1 takes 1 us an image, engine 2 a tenth more, and so on; all need the
 * same workspace, PLAY_WORKSPACE. Engine 90 takes 0.8 us and needs PLAY_LARGE,
 * which is more than the options allow at first, as does 94, which is slow; 91
 * is not supported, and for 92 the device never has the memory. Rows of the
 * legacy API are as from before there were notes.
 *
 * Owner:   what is pointed at is the test's; one profile does for all tests,
 *          each of which has a problem of its own.
 * Errors:  cmocka assertions.
 */
#ifndef UC_TESTS_AGENDA_PLAY_H
#define UC_TESTS_AGENDA_PLAY_H

#include "tests/db_support.h"

#include "planner/agenda.h"

enum {
    PLAY_BOTH = (1 << UC_APIS) - 1,
    PLAY_GRAPH = 1 << UC_API_GRAPH,
    PLAY_MEASURED_AT = 1700000000,
    PLAY_WORKSPACE = 1 << 10,
    PLAY_LARGE = 1 << 21
};

/** What cuDNN has in this play, and what happened. */
struct play {
    struct uc_problem problem;
    const struct uc_work_kernel *engines; /**< found by every search */
    size_t engine_count;
    struct uc_work_options options;
    int gone;       /**< engine that is supported no more; 0: none */
    int hanging;    /**< engine that hangs below 4 images; 0: none */
    int cut_off;    /**< engine that is cut off below 4 images; 0: none */
    int values;     /**< of the only knob of each engine, which is found by
                         tuning only: the time falls by 10 % from each to the
                         next but the last, which is as slow as none */
    int most_works; /**< stop, as if killed, after this many; 0: go on */
    /* What happened in a run. */
    int searches, kernels, works;
    char measured[4096]; /**< "64:eng1 64:eng1=2 ", graph kernels only */
    int likes;           /**< kernels that what is like them was sought of */
    struct uc_agenda_counts counts;
};

extern struct uc_profile *play_profile;
extern int64_t play_env;
int play_set_up(void **state);
int play_tear_down(void **state);

struct uc_work_kernel play_engine(int number, unsigned notes);
struct play play_new(unsigned apis, enum uc_operation operation,
                     const struct uc_work_kernel *engines, size_t count);

/** List and go through the problem as a run does; how many sizes were listed.
 */
size_t play_run(struct play *play, int64_t batch, const char *policy);

/** What is on record of a search; found is -1: nothing. */
struct uc_search play_record(const struct play *play, enum uc_api api,
                             int64_t micro_batch, bool accumulate);

/** Do what an agenda wants. */
void play_work(struct play *play, struct uc_agenda *agenda,
               const struct uc_work *work);

/** Sizes 4 and 2 of a play's problem, or the first, step by step. */
struct stage {
    struct uc_work_size sizes[2];
    struct uc_work_problem of;
    struct uc_agenda agenda;
    struct uc_work work; /**< in hand */
};
void stage_begin(struct stage *stage, const struct play *play, size_t sizes);
/** Up to the first search. */
void stage_open(struct stage *stage, const struct play *play, size_t sizes);
/** The next work, which there is; `stop`: no further size is begun. */
void stage_next(struct stage *stage, bool stop);
/** Do the work in hand, and take the next. */
void stage_play(struct stage *stage, struct play *play, bool stop);
/** There is no more. */
void stage_close(struct stage *stage, bool stop);

#endif
