/**
 * @file profile.h
 * Profiles: every measurement, failures too, in one SQLite file.
 *
 * A row is keyed by environment (device and versions), problem, micro-batch
 * size, beta case and kernel; storing a key again replaces its row.
 *
 * Units:   *_bytes are bytes, *_ns nanoseconds, micro-batches count images.
 * Owner:   open handles and arrays are the caller's; each close and free
 *          takes NULL.
 * Errors:  UC_EFILE (not a profile, newer schema, malformed, disk, locks);
 *          outputs are untouched on failure.
 * Threads: a handle is used by one thread at a time; any number of
 *          processes may write one file (each store is a transaction).
 */
#ifndef UC_DB_PROFILE_H
#define UC_DB_PROFILE_H

#include "common/device.h"
#include "common/kernel.h"
#include "common/problem.h"

struct uc_profile;

enum uc_profile_mode {
    UC_PROFILE_READ,  /**< must exist; works in a read-only folder */
    UC_PROFILE_WRITE, /**< created when missing */
    /** UC_PROFILE_WRITE for a file nobody else knows yet: no journal file and
     * no fsync. */
    UC_PROFILE_PRIVATE,
    /** UC_PROFILE_READ for one that is to be replaced: UC_SQL_HOLD. */
    UC_PROFILE_HOLD
};

/** What happened when a kernel was measured. Stored as text. */
enum uc_outcome {
    UC_MEASURED,      /**< "measured": a plan may use it */
    UC_CUT_OFF,       /**< "cut-off": hopelessly slow, one sample */
    UC_UNSUPPORTED,   /**< "unsupported": cuDNN says it has no such kernel */
    UC_TOO_LARGE,     /**< "too-large": workspace over the benchmark's cap */
    UC_FAILED,        /**< "failed": cuDNN or CUDA returned an error */
    UC_WRONG,         /**< "wrong": differs from the reference */
    UC_OUT_OF_BOUNDS, /**< "out-of-bounds": wrote outside its buffers */
    UC_CRASHED,       /**< "crashed": took the process down */
    UC_TIMED_OUT,     /**< "timed-out": hung */
    UC_OUTCOMES
};
const char *uc_outcome_name(enum uc_outcome outcome);
bool uc_outcome_parse(const char *name, enum uc_outcome *outcome);

enum { UC_MAX_SAMPLES = 32, UC_REASON_TEXT = 192 };

struct uc_measurement {
    int64_t micro_batch; /**< >= 1 */
    bool accumulate;     /**< beta = 1 (backward-filter pieces after the
                              first), else beta = 0 */
    struct uc_kernel kernel;
    enum uc_outcome outcome;
    char reason[UC_REASON_TEXT]; /**< one line, "" when measured */
    unsigned notes;              /**< enum uc_kernel_note bits */
    int64_t workspace_bytes;     /**< asked of cuDNN; 0 when it did not tell,
                                      and of a legacy one that took down its
                                      worker */
    int64_t time_ns;   /**< median time of a call on the device, >= 1 when
                            measured or cut off, else 0 */
    int64_t spread_ns; /**< half the interquartile range of the samples */
    int64_t host_ns;   /**< median host time to issue one call */
    double error;      /**< relative L2 error against the strict reference,
                            negative when unknown */
    int calls;         /**< calls in a sample */
    int samples;       /**< entries of sample_ns, 0 .. UC_MAX_SAMPLES */
    float sample_ns[UC_MAX_SAMPLES]; /**< per call, as taken */
    int64_t measured_at;             /**< seconds since 1970, UTC */
    int64_t build_ns; /**< host time to make the kernel ready to run, once;
                           0 when it was not built */
};

enum uc_status uc_profile_open(const char *path, enum uc_profile_mode mode,
                               struct uc_profile **out, struct uc_error *err);
void uc_profile_close(struct uc_profile *profile);
/** UC_EFILE when a row names what is not there: nothing would read it. For
    those who copy all that there is; before writing it is made sure of. */
enum uc_status uc_profile_check_references(struct uc_profile *profile,
                                           struct uc_error *err);
/** Make the file as small as what it holds allows. */
enum uc_status uc_profile_vacuum(struct uc_profile *profile,
                                 struct uc_error *err);

/**
 * Find, or in write mode add, an environment; its id is stable in a file.
 * In read mode *id is -1 when there is none like it.
 */
enum uc_status uc_profile_add_environment(struct uc_profile *profile,
                                          const struct uc_environment *env,
                                          int64_t *id, struct uc_error *err);

struct uc_profile_environment {
    int64_t id;
    struct uc_environment environment;
    /** Zero until uc_profile_count(). Rows; usable = measured. */
    int64_t problems, measurements, usable;
    int64_t first_at, last_at; /**< oldest and newest measured_at */
};
/**
 * Every environment, in order of id, without its counts (which take a pass
 * over its rows). *list is the caller's to free().
 */
enum uc_status uc_profile_environments(struct uc_profile *profile,
                                       struct uc_profile_environment **list,
                                       size_t *count, struct uc_error *err);
/** Fill the counts and dates of the environment with this id. */
enum uc_status uc_profile_count(struct uc_profile *profile,
                                struct uc_profile_environment *environment,
                                struct uc_error *err);

/** Whether uc_profile_store() takes the row; UC_EINTERNAL with the reason. */
enum uc_status uc_measurement_check(const struct uc_problem *problem,
                                    const struct uc_measurement *measurement,
                                    struct uc_error *err);
/**
 * Negative, 0 or positive, as qsort() wants it: by micro-batch, accumulate,
 * kernel; 0 means the same key.
 */
int uc_measurement_order(const struct uc_measurement *a,
                         const struct uc_measurement *b);
/** Of rows in any order the first of this key; NULL: none. */
const struct uc_measurement *uc_measurement_find(
    const struct uc_measurement *rows, size_t count, int64_t micro_batch,
    bool accumulate, const struct uc_kernel *kernel);

/** Store one measurement: committed on return, replaces its key's row. */
enum uc_status uc_profile_store(struct uc_profile *profile, int64_t env,
                                const struct uc_problem *problem,
                                const struct uc_measurement *measurement,
                                struct uc_error *err);
/** The same for many of one problem, all or none: far faster than one by
 * one. */
enum uc_status uc_profile_store_all(struct uc_profile *profile, int64_t env,
                                    const struct uc_problem *problem,
                                    const struct uc_measurement *rows,
                                    size_t count, struct uc_error *err);

/**
 * Every row of a problem in one environment, ordered by micro-batch,
 * accumulate, kernel (uc_kernel_compare()). *rows is the caller's to
 * free(); NULL and 0 when the problem is not in the profile.
 */
enum uc_status uc_profile_load(struct uc_profile *profile, int64_t env,
                               const struct uc_problem *problem,
                               struct uc_measurement **rows, size_t *count,
                               struct uc_error *err);

/**
 * That the kernels of one API were looked for at one micro-batch and beta
 * case: each that exists has its row, or was left out because it could be in
 * no best configuration. The graph API's kernels are no fixed list, so this
 * record and not its rows says that nothing is missing.
 */
struct uc_search {
    enum uc_api api;
    int64_t micro_batch; /**< >= 1 */
    bool accumulate;
    int64_t found;       /**< kernels that exist, at least */
    int64_t pruned;      /**< of these, left out, at least; 0 when none was */
    unsigned left_out;   /**< enum uc_kernel_note bits: kernels with one of
                              these were not looked at, nor counted */
    int64_t searched_at; /**< seconds since 1970, UTC */
    bool tuned;          /**< also among what is like the best ones */
    unsigned tune_left_out; /**< by that, as by left_out */
};
/** Of a list the record of this key, to be changed where the list may be; NULL:
    none. */
struct uc_search *uc_search_find(const struct uc_search *list, size_t count,
                                 enum uc_api api, int64_t micro_batch,
                                 bool accumulate);
/** Committed on return; replaces the record of the same key. */
enum uc_status uc_profile_store_search(struct uc_profile *profile, int64_t env,
                                       const struct uc_problem *problem,
                                       const struct uc_search *search,
                                       struct uc_error *err);
/** Every search of a problem, ordered by API, micro-batch, accumulate; *list
 * is the caller's to free(). */
enum uc_status uc_profile_load_searches(struct uc_profile *profile, int64_t env,
                                        const struct uc_problem *problem,
                                        struct uc_search **list, size_t *count,
                                        struct uc_error *err);

/** Every problem with rows or searches in an environment, in text order; free()
 * it. */
enum uc_status uc_profile_problems(struct uc_profile *profile, int64_t env,
                                   struct uc_problem **problems, size_t *count,
                                   struct uc_error *err);

/** The kernels of an environment's rows. */
struct uc_profile_kernels {
    int64_t rows[UC_APIS];
    /** Kernels that are compiled when they are built: rows that were built,
     * their mean and their longest build time. */
    int64_t compiled, compiled_mean_ns, compiled_most_ns;
};
enum uc_status uc_profile_kernels(struct uc_profile *profile, int64_t env,
                                  struct uc_profile_kernels *kernels,
                                  struct uc_error *err);

/** Rows of each outcome in one environment. */
enum uc_status uc_profile_outcomes(struct uc_profile *profile, int64_t env,
                                   int64_t counts[UC_OUTCOMES],
                                   struct uc_error *err);

#endif
