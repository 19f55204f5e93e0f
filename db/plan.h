/**
 * @file plan.h
 * Plans: the chosen micro-batches, in one small SQLite file that ships with
 * a model.
 *
 * A file holds one or more plans; a plan is identified by network, device,
 * versions, mode, limit, batches and arithmetic (data types, math, layout).
 * Written to a temporary file beside the target and renamed, so an
 * interrupted writer leaves the old file whole.
 *
 * Units:   *_bytes are bytes, *_ns nanoseconds, batches count images.
 * Owner:   free a loaded plan with uc_plan_free() and the list with
 *          uc_plans_free(); both take NULL.
 * Errors:  UC_EFILE; UC_EINTERNAL for a plan that breaks the rules of
 *          uc_plan_check(), or no memory. Outputs are untouched on failure.
 * Threads: no hidden state; different files at the same time are fine.
 */
#ifndef UC_DB_PLAN_H
#define UC_DB_PLAN_H

#include "common/device.h"
#include "common/kernel.h"
#include "common/problem.h"

enum uc_plan_mode { UC_PLAN_WR, UC_PLAN_WD }; /**< "wr", "wd" */

/** `count` equal pieces in a row. */
struct uc_plan_piece {
    int64_t size;    /**< micro-batch, images */
    int64_t count;   /**< >= 1 */
    bool accumulate; /**< runs with beta = 1 */
    struct uc_kernel kernel;
    unsigned notes; /**< enum uc_kernel_note bits; a legacy kernel has at
                         least uc_legacy_notes() */
    int64_t workspace_bytes;
    int64_t time_ns;  /**< of one piece */
    int64_t build_ns; /**< to make the kernel ready, once, as measured; 0 when
                           it is not known */
};

struct uc_plan_operation {
    char layer[64];
    int64_t batch;
    int64_t repeat;            /**< how often the network runs it; >= 1 */
    struct uc_problem problem; /**< names the operation */
    int64_t workspace_bytes;   /**< maximum of its pieces */
    int64_t time_ns;           /**< sum of its pieces, one run */
    int64_t undivided_ns;      /**< best undivided under the same limit; -1
                                    when none fits */
    int64_t unlimited_ns;      /**< best undivided with any workspace; -1 when
                                    there is none */
    struct uc_plan_piece *pieces; /**< owned */
    size_t piece_count;
};

/** Least gain of `ucudnn-plan plan` when it is not told. */
#define UC_PLAN_MIN_GAIN 0.01

/** Beside the policy: what the plan's micro-batches were chosen from. */
struct uc_plan_choices {
    bool deterministic;       /**< only kernels that are */
    bool no_runtime_compiled; /**< none that is compiled when it is built */
    unsigned allow;     /**< UC_NOTE_DOWN_CONVERT, UC_NOTE_REDUCED_PRECISION:
                             kernels with that note were let in */
    unsigned apis;      /**< 1 << enum uc_api: only kernels of these; 0: all,
                             which is never told by every bit */
    int64_t max_pieces; /**< of one operation; 0: no limit */
    double min_gain;    /**< a division gains more than this share; 0 to 1 */
};

/** For an initializer: as `ucudnn-plan plan` chooses when it is not told. */
#define UC_PLAN_CHOICES              \
    {                                \
        .min_gain = UC_PLAN_MIN_GAIN \
    }
bool uc_plan_choices_equal(const struct uc_plan_choices *a,
                           const struct uc_plan_choices *b);
/** Whether kernels of this API were candidates. */
bool uc_plan_choices_use(const struct uc_plan_choices *choices,
                         enum uc_api api);
/** NULL, or why a kernel with these notes was no candidate. */
const char *uc_plan_choices_refuse(const struct uc_plan_choices *choices,
                                   unsigned notes);

enum { UC_PLAN_POLICY_TEXT = 1024 };

struct uc_plan {
    char network[64];
    struct uc_environment environment;
    enum uc_plan_mode mode;
    int64_t limit_bytes; /**< per operation (WR) or in total (WD) */
    char policy[UC_PLAN_POLICY_TEXT]; /**< "power-of-two", "all", "undivided",
                                           "16,32": whole, to plan by again */
    struct uc_plan_choices choices;
    int64_t created_at;                   /**< seconds since 1970, UTC */
    char tool[32];                        /**< version of ucudnn-plan */
    struct uc_plan_operation *operations; /**< owned, in network order */
    size_t operation_count;
};

/** Sums over operations, each `repeat` times; they stop at INT64_MAX. */
struct uc_plan_totals {
    int64_t predicted_ns;
    int64_t undivided_ns;    /**< -1 when some operation has none */
    int64_t unlimited_ns;    /**< -1 when some operation has none */
    int64_t workspace_bytes; /**< really needed: WR the maximum, WD the sum
                                  over operations and repeats */
};
void uc_plan_totals(const struct uc_plan *plan, struct uc_plan_totals *totals);

/**
 * Every rule of a plan that can be followed: ranges, pieces that add up to
 * the batch, times and workspaces that are those of the pieces, workspaces
 * within the limit, kernels that exist and keep the problem's math, kernels and
 * numbers of pieces that the plan's choices admit, and beta: only pieces of
 * backward-filter accumulate, and there every piece but the first.
 * UC_EINTERNAL with layer and reason.
 */
enum uc_status uc_plan_check(const struct uc_plan *plan, struct uc_error *err);

/**
 * Add the plans to the file, all or none, each replacing one with the same
 * network, device, versions, mode, limit, batches and arithmetic (among
 * themselves they must differ in these); the file is created when missing
 * and other plans in it are kept. A symbolic link is followed. Writers of
 * one file wait for each other, and remove what killed ones left beside it.
 * What is no plan file is refused and left untouched (an empty file is taken
 * as new).
 */
enum uc_status uc_plans_write(const char *path, const struct uc_plan *plans,
                              size_t count, struct uc_error *err);

/** The same, and other plans in the file are not kept. */
enum uc_status uc_plans_replace(const char *path, const struct uc_plan *plans,
                                size_t count, struct uc_error *err);
/** Whether one replaces the other. */
bool uc_plan_same(const struct uc_plan *a, const struct uc_plan *b);

/** Every plan of a file, in the order of their writing, each checked. */
enum uc_status uc_plans_read(const char *path, struct uc_plan **plans,
                             size_t *count, struct uc_error *err);
/** The same; after UC_EFILE *readable tells that the file is a whole plan file,
 * and what is wrong is in its plans. */
enum uc_status uc_plans_read_told(const char *path, struct uc_plan **plans,
                                  size_t *count, bool *readable,
                                  struct uc_error *err);
void uc_plan_free(struct uc_plan *plan); /**< what it owns, not itself */
void uc_plans_free(struct uc_plan *plans, size_t count);

/** Which of the two a file is, by its application id. */
enum uc_file_kind { UC_FILE_PROFILE, UC_FILE_PLAN };
enum uc_status uc_file_identify(const char *path, enum uc_file_kind *kind,
                                struct uc_error *err);

#endif
