/**
 * @file doctor.h
 * What this machine has for planning, measuring and running; and whether a
 * program's convolutions can be seen.
 *
 * Units:   *_s are seconds.
 * Owner:   uc_doctor_machine_free() and uc_doctor_program_free() take zeroed
 *          ones.
 * Errors:  what is missing or wrong is a finding. UC_EINTERNAL; of a program
 *          also launch.h's, and UC_EFILE without a file for the counters.
 * Threads: the process must be single-threaded (it forks).
 */
#ifndef UC_PLANNER_DOCTOR_H
#define UC_PLANNER_DOCTOR_H

#include "planner/probe.h"
#include "runtime/sight.h"

#include <stdio.h>

/* The machine --------------------------------------------------------------*/

/** An environment of a profile, or a plan of a file. */
struct uc_doctor_match {
    char what[160]; /**< "environment 1", "alexnet, wr 64 MiB" */
    struct uc_environment environment;
};

struct uc_doctor_file {
    bool plan;  /**< or a profile */
    bool asked; /**< for by name; of profiles that ship, all are here */
    char *name; /**< owned; as it was given or ships */
    struct uc_error fault;
    struct uc_doctor_match *matches; /**< owned */
    size_t count;
};

struct uc_doctor_machine {
    struct uc_probe probe;
    int device;                 /**< the GPU that was asked for, or 0 */
    struct uc_error no_use;     /**< why it cannot be used; UC_OK: it can */
    struct uc_environment here; /**< when it can */
    char data[UC_PROBE_PATH];   /**< the folder */
    struct uc_error data_fault;
    size_t networks;
    struct uc_doctor_file *files; /**< owned; those that ship come first */
    size_t file_count, shipped;
};

/** `profile` and `plan` may be NULL. */
enum uc_status uc_doctor_machine(struct uc_doctor_machine *machine, int device,
                                 const char *profile, const char *plan,
                                 struct uc_error *err);
void uc_doctor_machine_free(struct uc_doctor_machine *machine);

/** The first of what keeps plans from being made and files from being read;
 * UC_OK: nothing. */
enum uc_status uc_doctor_machine_fault(const struct uc_doctor_machine *machine,
                                       struct uc_error *err);
/** Whether nothing keeps the GPU from following or adding to the file of that
 * index; *why is the field that differs. */
bool uc_doctor_is_for(const struct uc_doctor_machine *machine, size_t file,
                      size_t match, const char **why);

enum uc_status uc_report_machine(FILE *out,
                                 const struct uc_doctor_machine *machine,
                                 struct uc_error *err);
enum uc_status uc_report_machine_json(FILE *out,
                                      const struct uc_doctor_machine *machine,
                                      struct uc_error *err);

/* A program ----------------------------------------------------------------*/

enum uc_seen {
    UC_SEEN_LEGACY,       /**< "seen": a plan will be followed */
    UC_SEEN_FOLLOWED,     /**< "followed": the plan is, at least in part */
    UC_SEEN_NOT_FOLLOWED, /**< "not-followed" */
    UC_SEEN_EXPLICIT,     /**< "explicit": through ucudnn.h */
    UC_SEEN_GRAPH,        /**< "graph-api": only executions of graphs */
    UC_SEEN_HIDDEN,       /**< "hidden": cuDNN was there, and no call seen */
    UC_SEEN_NO_CUDNN,     /**< "no-cudnn": none, but CUDA */
    UC_SEEN_NOTHING,      /**< "nothing": neither */
    UC_SEEN_UNKNOWN,      /**< "unknown": a process was killed before */
    UC_SEEN_NO_PROCESS    /**< "not-preloaded" */
};
const char *uc_seen_name(enum uc_seen seen);
/** Whether that is well: plans are or will be followed. */
bool uc_seen_is_well(enum uc_seen seen);

struct uc_doctor_program {
    const char *plan;       /**< its path, or NULL */
    bool torch_told;        /**< TORCH_CUDNN_V8_API_DISABLED=1 was set */
    double for_s;           /**< stop it then; negative: never */
    int ended;              /**< as waitpid() has it */
    bool stopped;           /**< its time was over */
    struct uc_sight *sight; /**< a copy, owned; what was counted */
};

/** Run it; launch_prepare() has been called. */
enum uc_status uc_doctor_run(struct uc_doctor_program *program, char **words,
                             size_t count, struct uc_error *err);
void uc_doctor_program_free(struct uc_doctor_program *program);

/** Processes that ended in a way that hides what they had loaded. */
int uc_doctor_unknown_processes(const struct uc_sight *sight);
enum { UC_DOCTOR_NAMES = 96 };
/** "sh, python3": their programs, as many as fit. */
void uc_doctor_unknown_names(const struct uc_sight *sight,
                             char text[UC_DOCTOR_NAMES]);
enum { UC_DOCTOR_COUNT = 64 };
/** "1 convolution", "1,204 convolutions". */
void uc_doctor_count(int64_t count, const char *what,
                     char text[UC_DOCTOR_COUNT]);
enum uc_seen uc_doctor_judge(const struct uc_doctor_program *program);

enum { UC_DOCTOR_TEXT = 512 };
/** What was found, in a sentence. */
void uc_doctor_say(const struct uc_doctor_program *program,
                   char text[UC_DOCTOR_TEXT]);
/** What to do about it, in a sentence or more; "": nothing. */
const char *uc_doctor_advice(const struct uc_doctor_program *program);

/** Calls that passed through by reason, equal texts united, most calls
 * first; returns their number. */
struct uc_doctor_miss {
    const char *reason; /**< borrowed of the sight, or a constant */
    int64_t calls;
};
size_t uc_doctor_misses(const struct uc_sight *sight,
                        struct uc_doctor_miss list[UC_SIGHT_REASONS + 2]);

enum uc_status uc_report_program(FILE *out,
                                 const struct uc_doctor_program *program,
                                 char **words, size_t count,
                                 struct uc_error *err);
enum uc_status uc_report_program_json(FILE *out,
                                      const struct uc_doctor_program *program,
                                      char **words, size_t count,
                                      struct uc_error *err);

#endif
