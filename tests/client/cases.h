/**
 * @file cases.h
 * The convolutions that the client programs run, and how the tests' plan
 * splits them: the one place that both sides, which share nothing else, are
 * told from.
 *
 * Units:   extents and strides count elements.
 * Owner:   plain values; names are constants.
 * Threads: no hidden state.
 */
#ifndef UC_TESTS_CLIENT_CASES_H
#define UC_TESTS_CLIENT_CASES_H

#include <stdbool.h>
#include <stddef.h>

/** TF32: fp32 data whose descriptor allows tensor cores. */
enum client_type {
    CLIENT_FP32,
    CLIENT_TF32,
    CLIENT_FP16,
    CLIENT_BF16,
    CLIENT_FP64,
    CLIENT_TYPES
};
/** GAPS: rows, channels and images with gaps between them. */
enum client_layout { CLIENT_NCHW, CLIENT_NHWC, CLIENT_GAPS, CLIENT_LAYOUTS };
enum client_operation {
    CLIENT_FORWARD,
    CLIENT_BACKWARD_DATA,
    CLIENT_BACKWARD_FILTER,
    CLIENT_OPERATIONS
};
enum client_tensor { CLIENT_X, CLIENT_W, CLIENT_Y, CLIENT_TENSORS };
enum { CLIENT_DIMS = 5, CLIENT_PIECES = 2 };

/** Every batch's slices lie at 16 bytes: channels come in eights. */
struct client_shape {
    const char *name;
    int spatial;
    int n, c, k, groups;
    int in[3], filter[3], pad[3], stride[3], dilation[3];
    bool flip;
};

struct client_case {
    char name[48]; /**< "square-nhwc-fp16" */
    struct client_shape shape;
    enum client_type type;
    enum client_layout layout;
    /** Of x, w, y; N,C or K,C/groups, then the spatial ones. */
    int extent[CLIENT_TENSORS][CLIENT_DIMS];
    int stride[CLIENT_TENSORS][CLIENT_DIMS];
    size_t count[CLIENT_TENSORS]; /**< elements up to the last, with gaps */
};

/** `count` micro-batches of `size` images. */
struct client_piece {
    int size, count, algorithm;
};

/** How many there are. */
int client_case_count(void);
/** The case of an index, 0 to client_case_count() - 1. */
void client_case_make(int index, struct client_case *c);

/** "forward", "backward-data", "backward-filter". */
const char *client_operation_name(enum client_operation operation);

/** How the plan splits it: at most CLIENT_PIECES pieces, all uneven. */
int client_split(const struct client_case *c, enum client_operation operation,
                 struct client_piece pieces[CLIENT_PIECES]);

#endif
