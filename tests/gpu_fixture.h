/**
 * @file gpu_fixture.h
 * Tensors of one problem on a GPU and on the host, and a direct convolution
 * on the CPU to compare with.
 *
 * Owner:   gpu_fixture_close() frees what gpu_fixture_open() made.
 * Errors:  cmocka assertions.
 */
#ifndef UC_TESTS_GPU_FIXTURE_H
#define UC_TESTS_GPU_FIXTURE_H

#include "tests/unit.h"

#include "planner/gpu.h"

enum { GPU_BATCH = 5, GPU_FIRST_PIECE = 3 };

/** Opened by gpu_open(); each thread has its own. */
extern _Thread_local struct uc_gpu gpu;

/** False, having said so, when there is no GPU; exits when there is one that
    cannot be used. */
bool gpu_open(void);

struct gpu_fixture {
    struct uc_problem problem;
    int64_t elements[3]; /**< up to the last; gaps included */
    double *host[3];     /**< by enum uc_tensor; rounded to the type */
    struct uc_buffer device[3];
    struct uc_buffer workspace;
    double *expected; /**< the operation's result, alpha 1, beta 0 */
};

/** Random tensors, the same on host and device, and what is expected. */
void gpu_fixture_open(struct gpu_fixture *f, const struct uc_problem *problem);
void gpu_fixture_close(struct gpu_fixture *f);

/** Put a tensor's values of the host on the device. */
void gpu_fixture_upload(struct gpu_fixture *f, int tensor);

/** Other random inputs, with what they give; the output is untouched. */
void gpu_fixture_renew(struct gpu_fixture *f);

/** Relative L2 error of the device's output. */
double gpu_fixture_error(struct gpu_fixture *f, double alpha, double beta);

/**
 * Largest error of a right result of these small problems, by a kernel of the
 * problem's math with these notes (enum uc_kernel_note bits). TF32, with 10
 * bits behind the point, errs by 5e-4 and more: an fma plan that computes in
 * TF32 is found out.
 */
double gpu_bound(const struct uc_problem *problem, unsigned notes);

#endif
