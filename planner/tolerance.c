#include "config.h"

#include "planner/tolerance.h"

/*
 * A class's bound is some ten times what its kernels were seen to do on an
 * H200 with the shipped networks, since errors grow with the length of the
 * sums (filters' gradients sum over all pixels of all images), and far below
 * what a kernel of the next weaker class does.
 */

/* Sums in fp64: 1e-15 each, and the longest are 1e8 long. */
static const double fp64 = 1e-10;
/* Sums in fp32, FFT among them: all stayed below 4e-5. TF32 begins at 5e-4. */
static const double fp32 = 1e-4;
/* Winograd's transforms lose digits with the tile: 5x5 filters reach 5e-3 in
   backward-filter at batch 256. */
static const double fp32_winograd = 1e-2;
/* Inputs with 10 bits behind the point: 5e-4 to 2e-3. */
static const double tf32 = 1e-2;
/* The same bits and fewer exponents, and outputs rounded to them; narrow
   accumulators lose more. */
static const double half = 2e-2;
/* Inputs and outputs with 7 bits. */
static const double bfloat = 1e-1;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/** What the type of a tensor allows at best. */
static double of_type(enum uc_dtype type)
{
    switch (type) {
    case UC_FP64:
        return fp64;
    case UC_FP16:
        return half;
    case UC_BF16:
        return bfloat;
    default:
        return fp32;
    }
}

double uc_tolerance(const struct uc_problem *problem, unsigned notes)
{
    double bound =
        larger(of_type(problem->x_type),
               larger(of_type(problem->w_type), of_type(problem->y_type)));

    if (notes & UC_NOTE_WINOGRAD)
        bound = larger(bound, fp32_winograd);
    if (notes & UC_NOTE_TENSOR_CORE && problem->x_type != UC_FP64)
        bound = larger(bound, tf32);
    if (notes & (UC_NOTE_DOWN_CONVERT | UC_NOTE_REDUCED_PRECISION))
        bound = larger(bound, half);
    return bound;
}
