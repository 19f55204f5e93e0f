/**
 * @file work.h
 * What has to be measured: the micro-configurations of an operation under a
 * policy, less those a profile already has.
 *
 * An operation of batch N needs, for each candidate size b of the policy,
 * measurements at beta = 0, and for backward-filter with b < N also at
 * beta = 1. Of the legacy API: each of uc_legacy_kernels(), unless a search is
 * on record (a compacted profile has such). Of the graph API:
 * what a search finds, and if wanted what tuning finds (tune.h); its record
 * says that nothing is missing.
 *
 * Units:   *_bytes are bytes, batches count images.
 * Owner:   lists are the caller's; uc_work_list_free(), uc_work_gap_free().
 * Errors:  as the profile's.
 * Threads: as the profile's.
 */
#ifndef UC_PLANNER_WORK_H
#define UC_PLANNER_WORK_H

#include "db/profile.h"
#include "planner/known_bad.h"
#include "planner/network.h"
#include "planner/policy.h"

#define UC_WORK_EVERY_API ((1u << UC_APIS) - 1)

/** What is to be measured at all. */
struct uc_work_options {
    unsigned apis;  /**< 1 << enum uc_api */
    unsigned allow; /**< UC_NOTE_DOWN_CONVERT, UC_NOTE_REDUCED_PRECISION:
                         graph kernels with that note are measured */
    bool no_runtime_compiled; /**< none that is compiled when it is built */
    bool exhaustive;          /**< also what is hopeless (prune.h) */
    bool tune;                /**< also what is like the best (tune.h) */
    bool remeasure;           /**< what is there counts as missing */
    /** What was measured before this counts as missing, and nothing else does;
        0: not so. */
    int64_t refresh_before;
    /** What was too large once is missing if it needs no more than this;
        negative: what is there, is there. */
    int64_t max_workspace_bytes;
    const struct uc_known_bad *known_bad; /**< NULL: none */
    int cudnn; /**< the version that known_bad is asked about */
};

/** A kernel to be measured. */
struct uc_work_kernel {
    struct uc_kernel kernel;
    bool accumulate;         /**< beta = 1 */
    unsigned notes;          /**< enum uc_kernel_note bits */
    int64_t workspace_bytes; /**< of a graph kernel; a legacy one's is asked
                                  when it is measured */
};

/** One micro-batch size of a problem. */
struct uc_work_size {
    int64_t micro_batch;
    bool accumulates; /**< beta = 1 is needed, too */
    size_t kernels;   /**< that it lacked when it was listed, by name */
    int searches;     /**< for graph kernels that it lacked, 0 .. 2 */
    int tunings;      /**< of graph kernels that it lacked, 0 .. 2 */
};

/** A problem that lacks something, however many operations share it. */
struct uc_work_problem {
    struct uc_problem problem;
    int64_t batch;              /**< the largest of its operations */
    struct uc_work_size *sizes; /**< owned; the batch and powers of two first,
                                     then the rest; each falling */
    size_t size_count;          /**< >= 1 */
};

/** What a profile has of a problem; rows by micro-batch, as it loads them. */
struct uc_work_known {
    const struct uc_measurement *rows;
    size_t row_count;
    const struct uc_search *searches;
    size_t search_count;
};

/** To a list that the caller frees. */
enum uc_status uc_work_append(struct uc_work_kernel **list, size_t *count,
                              const struct uc_work_kernel *kernel,
                              struct uc_error *err);

/** What one size lacks. */
struct uc_work_gap {
    struct uc_work_kernel *kernels; /**< known by name */
    size_t kernel_count;
    bool search[2]; /**< graph kernels at beta 0, 1 have to be looked for */
    bool again[2];  /**< some are tried again, which were too large */
    bool tune[2];   /**< the best of them have to be tuned */
};

enum uc_status uc_work_gap(const struct uc_problem *problem,
                           const struct uc_work_size *size,
                           const struct uc_work_options *options,
                           const struct uc_work_known *known,
                           struct uc_work_gap *gap, struct uc_error *err);
void uc_work_gap_free(struct uc_work_gap *gap);

/**
 * What the operations still need, each problem once, with the sizes that
 * lack something; NULL when nothing is. `profile` may be NULL (nothing is there
 * yet) and `env` < 0 (no such environment yet).
 */
enum uc_status uc_work_list(struct uc_profile *profile, int64_t env,
                            const struct uc_network_operation *operations,
                            const int64_t *batches, size_t count,
                            const struct uc_policy *policy,
                            const struct uc_work_options *options,
                            struct uc_work_problem **list, size_t *list_count,
                            struct uc_error *err);
void uc_work_list_free(struct uc_work_problem *list, size_t count);

/** Whether an operation before this one has the same problem. */
bool uc_work_is_repeated(const struct uc_network_operation *operations,
                         size_t index);

/**
 * Whether a graph kernel of this problem may be measured: it keeps the
 * arithmetic and has no note that is left out. uc_work_left_out() are the
 * notes that are.
 */
bool uc_work_admits(const struct uc_problem *problem,
                    const struct uc_work_options *options, unsigned notes);
unsigned uc_work_left_out(const struct uc_work_options *options);

/** What a worker does at once, at one micro-batch size: look for graph
    kernels, or measure kernels. */
enum { UC_WORK_KERNELS = 512 };
struct uc_work {
    struct uc_problem problem;
    int64_t micro_batch;
    int64_t batch; /**< that the micro-batch is a part of */
    bool search;
    bool accumulate;       /**< a search's beta case */
    bool runtime_compiled; /**< a search's: such engines are looked for */
    int skip_references;   /**< 0 at first; how many took down their worker
                                when they computed the reference */
    size_t kernel_count;   /**< of a search: 0, or look for what is like
                                these */
    struct uc_work_kernel kernels[UC_WORK_KERNELS];
};

#endif
