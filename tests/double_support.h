/**
 * @file double_support.h
 * One small convolution for the tests of the double: its description, its
 * tensors on the host and on the device, and a run of it.
 *
 * Owner:   uc_case_free() frees everything of a case.
 * Errors:  cmocka assertions.
 */
#ifndef UC_TESTS_DOUBLE_SUPPORT_H
#define UC_TESTS_DOUBLE_SUPPORT_H

#include "tests/unit.h"

#include "tests/double/double.h"
#include "tests/double/number.h"

#include <cudnn.h>

enum layout { NCHW, NHWC, GAPS };
enum { X, W, Y };

struct shape {
    const char *name;
    int spatial;
    int n, c, k, groups;
    int in[3], filter[3], pad[3], stride[3], dilation[3];
    bool flip;
};

struct uc_case {
    struct shape shape;
    enum uc_number type;
    int out[3];
    int extent[3][5], step[3][5]; /* of x, w, y: N, C and the spatial ones */
    size_t count[3];              /* elements up to the last, gaps included */
    double *host[3];
    CUdeviceptr device[3];
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t convolution;
    CUdeviceptr workspace;
    size_t workspace_bytes;
};

/** Retain device 0, make a handle; on reset, the environment is read anew. */
void double_open(void);
void double_close(void);
extern cudnnHandle_t double_handle;

/** Setup of a test: none of the double's variables, everything forgotten. */
int double_fresh(void **state);
/** Set a variable of the double; everything is forgotten. */
void double_with(const char *variable, const char *value);
/** So many misuses since then. They are told on stderr. */
void double_expect_misuses(int misuses);

/** 4 images of 8x8, 2 to 3 channels, 3x3: 13,824 multiply-adds. */
extern const struct shape uc_square;

/** Random tensors of multiples of 1/8 in [-1, 1), descriptors, no workspace. */
void uc_case_open(struct uc_case *c, const struct shape *shape,
                  enum uc_number type, enum layout layout);
void uc_case_free(struct uc_case *c);
/** The host's values to the device, and back. */
void uc_case_upload(struct uc_case *c, int tensor);
void uc_case_download(struct uc_case *c, int tensor);
/** cuDNN's answer, the size in *bytes. */
cudnnStatus_t uc_case_query(struct uc_case *c, enum uc_double_operation op,
                            int algorithm, size_t *bytes);
/** Runs with the workspace of the case. */
cudnnStatus_t uc_case_run(struct uc_case *c, enum uc_double_operation op,
                          int algorithm, double alpha, double beta);
/** The same with exactly the workspace that it asks for. */
cudnnStatus_t uc_case_run_sized(struct uc_case *c, enum uc_double_operation op,
                                int algorithm, double alpha, double beta);
/** Forward, algorithm 1, alpha 1, beta 0. */
cudnnStatus_t uc_case_run_once(struct uc_case *c);
/** Nanoseconds between events before and after a run. */
double uc_case_time(struct uc_case *c, enum uc_double_operation op,
                    int algorithm, double beta);
/** Where an element lies. */
size_t uc_case_place(const struct uc_case *c, int tensor, const int index[5]);
/** The next index in a tensor's extents; false behind the last. */
bool uc_case_next(const struct uc_case *c, int tensor, int index[5]);

#endif
