#include "config.h"

#include "common/kernel.h"

#include <stdio.h>
#include <string.h>

struct algorithm {
    const char *name;
    unsigned notes;
};

/* Index: cuDNN's enumerator. Notes: cuDNN API reference, determinism. */
static const struct algorithm forward[] = {
    { "implicit-gemm", 0 }, { "implicit-precomp-gemm", 0 },
    { "gemm", 0 },          { "direct", 0 },
    { "fft", 0 },           { "fft-tiling", 0 },
    { "winograd", 0 },      { "winograd-nonfused", 0 },
};
static const struct algorithm backward_data[] = {
    { "algo0", UC_NOTE_NONDETERMINISTIC },
    { "algo1", 0 },
    { "fft", 0 },
    { "fft-tiling", 0 },
    { "winograd", 0 },
    { "winograd-nonfused", 0 },
};
static const struct algorithm backward_filter[] = {
    { "algo0", UC_NOTE_NONDETERMINISTIC },
    { "algo1", 0 },
    { "fft", 0 },
    { "algo3", UC_NOTE_NONDETERMINISTIC },
    { "winograd", 0 },
    { "winograd-nonfused", 0 },
    { "fft-tiling", 0 },
};

static const struct {
    const struct algorithm *list;
    int count;
} algorithms[UC_OPERATIONS] = {
    [UC_FORWARD] = { forward, sizeof forward / sizeof *forward },
    [UC_BACKWARD_DATA] = { backward_data,
                           sizeof backward_data / sizeof *backward_data },
    [UC_BACKWARD_FILTER] = { backward_filter,
                             sizeof backward_filter / sizeof *backward_filter },
};

int uc_legacy_algorithm_count(enum uc_operation operation)
{
    return algorithms[operation].count;
}

unsigned uc_legacy_notes(enum uc_operation operation, int algorithm)
{
    return algorithms[operation].list[algorithm].notes;
}

void uc_kernel_print(const struct uc_kernel *kernel,
                     enum uc_operation operation, char text[UC_KERNEL_TEXT])
{
    snprintf(text, UC_KERNEL_TEXT, "%s/%s",
             algorithms[operation].list[kernel->algorithm].name,
             uc_math_name(kernel->math));
}

enum uc_status uc_kernel_parse(const char *text, enum uc_operation operation,
                               struct uc_kernel *kernel, struct uc_error *err)
{
    const char *slash = strchr(text, '/');
    enum uc_math math;

    if (slash == NULL || !uc_math_parse(slash + 1, &math))
        return uc_fail(err, UC_EINPUT, "kernel \"%.60s\" is not ALGORITHM/MATH",
                       text);
    for (int i = 0; i < algorithms[operation].count; i++) {
        const char *name = algorithms[operation].list[i].name;
        size_t length = (size_t)(slash - text);

        if (strlen(name) == length && memcmp(name, text, length) == 0) {
            *kernel = (struct uc_kernel){ UC_API_LEGACY, i, math };
            return UC_OK;
        }
    }
    return uc_fail(err, UC_EINPUT, "kernel \"%.60s\": %s has no such algorithm",
                   text, uc_operation_name(operation));
}

size_t uc_legacy_kernels(const struct uc_problem *problem,
                         struct uc_kernel kernels[UC_LEGACY_KERNELS])
{
    int count = uc_legacy_algorithm_count(problem->operation);

    for (int i = 0; i < count; i++)
        kernels[i] = (struct uc_kernel){ UC_API_LEGACY, i, problem->math };
    return (size_t)count;
}

bool uc_kernel_equal(const struct uc_kernel *a, const struct uc_kernel *b)
{
    return a->api == b->api && a->algorithm == b->algorithm &&
           a->math == b->math;
}
