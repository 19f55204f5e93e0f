/**
 * @file engines.h
 * Which graph kernels there are for the micro-batches of a problem.
 *
 * A search begins at the full batch: the first choices of cuDNN's heuristic
 * mode A, all of mode FALLBACK, and every engine with its default knobs. At a
 * micro-batch, mode A is asked again, and what the full batch named is tried,
 * too: neither list holds the other's best. (FALLBACK is not: it takes ten
 * times as long as mode A, and 96 % of what it says is known by then, the rest
 * other knobs of known engines.) A candidate is one whose engine configuration
 * cuDNN accepts at the micro-batch; no execution plan is built.
 *
 * The heuristics name few of the configurations that an engine has, and not
 * always the best: uc_engines_near() finds what is like a good one.
 *
 * Units:   *_bytes are bytes, batches count images.
 * Owner:   close a search with uc_engines_close(), which takes NULL; a list
 *          is the caller's to free().
 * Errors:  cuDNN's own status (a problem that the graph API does not have is
 *          an empty list, not an error); outputs are untouched on failure.
 * Threads: one search is used by one thread at a time.
 * Source:  CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINE_*.
 */
#ifndef UC_RUNTIME_ENGINES_H
#define UC_RUNTIME_ENGINES_H

#include "runtime/graph.h"

/** How many of mode A's choices are candidates, of 20 to 40. */
enum { UC_ENGINES_FIRST_CHOICES = 12 };

struct uc_engine_candidate {
    struct uc_kernel kernel;
    unsigned notes; /**< enum uc_kernel_note bits */
    int64_t workspace_bytes;
};

struct uc_engines;

/**
 * Search at the full batch, with alpha 1 and beta 0, or 1 if `accumulate`.
 * Engines that are compiled at run time, which take long even to be asked
 * for their workspace, only if `runtime_compiled`.
 */
cudnnStatus_t uc_engines_open(const struct uc_cudnn *cudnn,
                              const struct uc_graph_place *place,
                              const struct uc_problem *problem, int64_t batch,
                              bool accumulate, bool runtime_compiled,
                              struct uc_engines **out);
void uc_engines_close(struct uc_engines *engines);

/** Candidates at a micro-batch, each once, mode A's first choices first. */
cudnnStatus_t uc_engines_at(const struct uc_engines *engines,
                            int64_t micro_batch,
                            struct uc_engine_candidate **list, size_t *count);

/**
 * Candidates at a micro-batch among some kernels and what differs from one
 * of them in one knob: all values of a knob that has no more than
 * UC_ENGINES_KNOB_VALUES, of the others (such as split-K's 2048) multiples of
 * the chosen one, or powers of two where none was. A legacy kernel is like
 * none.
 */
enum { UC_ENGINES_KNOB_VALUES = 64 };
cudnnStatus_t uc_engines_near(const struct uc_engines *engines,
                              int64_t micro_batch,
                              const struct uc_kernel *kernels,
                              size_t kernel_count,
                              struct uc_engine_candidate **list, size_t *count);

#endif
