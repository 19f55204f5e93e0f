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
    { "implicit-gemm", 0 },
    { "implicit-precomp-gemm", 0 },
    { "gemm", 0 },
    { "direct", 0 },
    { "fft", UC_NOTE_FFT },
    { "fft-tiling", UC_NOTE_FFT },
    { "winograd", UC_NOTE_WINOGRAD },
    { "winograd-nonfused", UC_NOTE_WINOGRAD },
};
static const struct algorithm backward_data[] = {
    { "algo0", UC_NOTE_NONDETERMINISTIC },
    { "algo1", 0 },
    { "fft", UC_NOTE_FFT },
    { "fft-tiling", UC_NOTE_FFT },
    { "winograd", UC_NOTE_WINOGRAD },
    { "winograd-nonfused", UC_NOTE_WINOGRAD },
};
static const struct algorithm backward_filter[] = {
    { "algo0", UC_NOTE_NONDETERMINISTIC },
    { "algo1", 0 },
    { "fft", UC_NOTE_FFT },
    { "algo3", UC_NOTE_NONDETERMINISTIC },
    { "winograd", UC_NOTE_WINOGRAD },
    { "winograd-nonfused", UC_NOTE_WINOGRAD },
    { "fft-tiling", UC_NOTE_FFT },
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

const char *uc_api_name(enum uc_api api)
{
    return api == UC_API_LEGACY ? "legacy" : "graph";
}

/* ---------------------------------------------------------------- notes */

const char *uc_note_name(int bit)
{
    static const char *const names[UC_NOTES] = {
        "nondeterministic",  "tensor-core", "down-convert",
        "reduced-precision", "fft",         "winograd",
        "runtime-compiled",
    };

    return names[bit];
}

unsigned uc_legacy_notes(const struct uc_kernel *kernel,
                         enum uc_operation operation)
{
    if (kernel->api != UC_API_LEGACY)
        return 0;
    return algorithms[operation].list[kernel->algorithm].notes |
           (kernel->math == UC_MATH_FMA ? 0u : UC_NOTE_TENSOR_CORE);
}

bool uc_notes_keep_math(unsigned notes, const struct uc_problem *problem)
{
    bool fp32 = problem->x_type == UC_FP32 || problem->w_type == UC_FP32 ||
                problem->y_type == UC_FP32;

    return problem->math != UC_MATH_FMA || !fp32 ||
           (notes & UC_NOTE_TENSOR_CORE) == 0;
}

/* ----------------------------------------------------------------- text */

static void print_engine(const struct uc_kernel *kernel,
                         char text[UC_KERNEL_TEXT])
{
    int used = snprintf(text, UC_KERNEL_TEXT, "eng%d", kernel->engine);

    for (int i = 0; i < kernel->knob_count; i++) {
        const struct uc_knob *knob = &kernel->knobs[i];

        if (used < 0 || used >= UC_KERNEL_TEXT)
            return;
        used += snprintf(text + used, UC_KERNEL_TEXT - (size_t)used, " k%d=%d",
                         knob->type, knob->value);
    }
}

void uc_kernel_print(const struct uc_kernel *kernel,
                     enum uc_operation operation, char text[UC_KERNEL_TEXT])
{
    if (kernel->api == UC_API_GRAPH)
        print_engine(kernel, text);
    else
        snprintf(text, UC_KERNEL_TEXT, "%s/%s",
                 algorithms[operation].list[kernel->algorithm].name,
                 uc_math_name(kernel->math));
}

/** A number as it is printed, no sign, below `bound`, at *text; moves it. */
static bool scan_number(const char **text, int bound, int *number)
{
    const char *c = *text;
    int64_t value = 0;

    for (; *c >= '0' && *c <= '9' && value < bound; c++)
        value = value * 10 + (*c - '0');
    if (c == *text || value >= bound || (**text == '0' && c - *text > 1))
        return false;
    *text = c;
    *number = (int)value;
    return true;
}

/** " k27=-8" at *text; moves it. */
static bool scan_knob(const char **text, struct uc_knob *knob)
{
    const char *c = *text;
    bool negative;

    if (*c++ != ' ' || *c++ != 'k' ||
        !scan_number(&c, UC_KNOB_TYPES, &knob->type) || *c++ != '=')
        return false;
    negative = *c == '-';
    c += negative;
    if (!scan_number(&c, UC_KNOB_VALUES, &knob->value) ||
        (negative && knob->value == 0))
        return false;
    if (negative)
        knob->value = -knob->value;
    *text = c;
    return true;
}

/** NULL, or what keeps a text from being an engine. */
static const char *scan_engine(const char *text, struct uc_kernel *kernel)
{
    const char *c = text + strlen("eng");

    *kernel = (struct uc_kernel){ .api = UC_API_GRAPH };
    if (!scan_number(&c, UC_ENGINES, &kernel->engine))
        return "no engine has such a number";
    while (*c != '\0') {
        if (kernel->knob_count == UC_MAX_KNOBS)
            return "too many knobs";
        if (!scan_knob(&c, &kernel->knobs[kernel->knob_count++]))
            return "is not ENGINE KNOB=VALUE...";
    }
    return uc_kernel_fault(kernel, UC_FORWARD);
}

static const char *scan_algorithm(const char *text, enum uc_operation operation,
                                  struct uc_kernel *kernel)
{
    const char *slash = strchr(text, '/');

    *kernel = (struct uc_kernel){ .api = UC_API_LEGACY };
    if (slash == NULL || !uc_math_parse(slash + 1, &kernel->math))
        return "is not ALGORITHM/MATH";
    for (int i = 0; i < algorithms[operation].count; i++) {
        const char *name = algorithms[operation].list[i].name;
        size_t length = (size_t)(slash - text);

        if (strlen(name) == length && memcmp(name, text, length) == 0) {
            kernel->algorithm = i;
            return NULL;
        }
    }
    return "no such algorithm";
}

enum uc_status uc_kernel_parse(const char *text, enum uc_operation operation,
                               struct uc_kernel *kernel, struct uc_error *err)
{
    struct uc_kernel parsed;
    const char *fault = strncmp(text, "eng", 3) == 0
                            ? scan_engine(text, &parsed)
                            : scan_algorithm(text, operation, &parsed);

    if (fault != NULL)
        return uc_fail(err, UC_EINPUT, "%s kernel \"%.96s\": %s",
                       uc_operation_name(operation), text, fault);
    *kernel = parsed;
    return UC_OK;
}

/* -------------------------------------------------------------- validity */

static const char *engine_fault(const struct uc_kernel *kernel)
{
    if (kernel->engine < 0 || kernel->engine >= UC_ENGINES)
        return "no engine has such a number";
    if (kernel->knob_count < 0 || kernel->knob_count > UC_MAX_KNOBS)
        return "too many knobs";
    for (int i = 0; i < kernel->knob_count; i++) {
        const struct uc_knob *knob = &kernel->knobs[i];

        if (knob->type < 0 || knob->type >= UC_KNOB_TYPES)
            return "no such knob";
        if (knob->value <= -UC_KNOB_VALUES || knob->value >= UC_KNOB_VALUES)
            return "a knob's value is out of range";
        if (i > 0 && knob->type <= knob[-1].type)
            return "each knob may stand once, in rising order";
    }
    return NULL;
}

const char *uc_kernel_fault(const struct uc_kernel *kernel,
                            enum uc_operation operation)
{
    if (kernel->api == UC_API_GRAPH)
        return kernel->algorithm != 0 || kernel->math != 0
                   ? "a graph kernel has no algorithm"
                   : engine_fault(kernel);
    if (kernel->api != UC_API_LEGACY)
        return "no such API";
    if (kernel->algorithm < 0 ||
        kernel->algorithm >= algorithms[operation].count)
        return "no such algorithm";
    if ((int)kernel->math < 0 || kernel->math >= UC_MATHS)
        return "no such math";
    if (kernel->engine != 0 || kernel->knob_count != 0)
        return "a legacy kernel has no engine";
    return NULL;
}

size_t uc_legacy_kernels(const struct uc_problem *problem,
                         struct uc_kernel kernels[UC_LEGACY_KERNELS])
{
    int count = uc_legacy_algorithm_count(problem->operation);

    for (int i = 0; i < count; i++)
        kernels[i] =
            (struct uc_kernel){ .algorithm = i, .math = problem->math };
    return (size_t)count;
}

/* --------------------------------------------------------------- order */

static int compare(int a, int b)
{
    return (a > b) - (a < b);
}

static int compare_knobs(const struct uc_kernel *a, const struct uc_kernel *b)
{
    int order = 0;

    for (int i = 0; i < a->knob_count && i < b->knob_count && order == 0; i++) {
        order = compare(a->knobs[i].type, b->knobs[i].type);
        if (order == 0)
            order = compare(a->knobs[i].value, b->knobs[i].value);
    }
    return order != 0 ? order : compare(a->knob_count, b->knob_count);
}

int uc_kernel_compare(const struct uc_kernel *a, const struct uc_kernel *b)
{
    int order = compare((int)a->api, (int)b->api);

    if (order == 0)
        order = compare(a->algorithm, b->algorithm);
    if (order == 0)
        order = compare((int)a->math, (int)b->math);
    if (order == 0)
        order = compare(a->engine, b->engine);
    return order != 0 ? order : compare_knobs(a, b);
}

bool uc_kernel_equal(const struct uc_kernel *a, const struct uc_kernel *b)
{
    return uc_kernel_compare(a, b) == 0;
}
