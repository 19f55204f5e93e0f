/* Modules and the kernels with which bench fills, compares and holds. */
#include "config.h"

#include "tests/double/number.h"
#include "tests/double/state.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct CUfunc_st {
    const char *name;
    /** Returns false when an argument is wrong. */
    bool (*run)(void **arguments, int device, uint64_t *count, void **output);
};

struct CUmod_st {
    char *text;
};

/** Uniform in [-1, 1): 24 bits of a hash of the seed and the index. */
static double value_of(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * UINT64_C(0x9E3779B97F4A7C15);

    z ^= z >> 30;
    z *= UINT64_C(0xBF58476D1CE4E5B9);
    z ^= z >> 27;
    z *= UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return (double)(z >> 40) / (1 << 23) - 1;
}

static void argument(void **arguments, int index, void *to, size_t bytes)
{
    memcpy(to, arguments[index], bytes);
}

static bool number_type(void **arguments, int index, enum uc_number *type)
{
    int value;

    argument(arguments, index, &value, sizeof value);
    if (value < 0 || value >= UC_NUMBERS) {
        uc_double_misuse("kernel argument %d: %d is no data type", index,
                         value);
        return false;
    }
    *type = (enum uc_number)value;
    return true;
}

/* (void *dst, uint64 n, int storage, int rounding, uint64 seed) */
static bool run_fill(void **arguments, int device, uint64_t *count,
                     void **output)
{
    enum uc_number storage;
    enum uc_number rounding;
    uint64_t seed;

    argument(arguments, 0, output, sizeof *output);
    argument(arguments, 1, count, sizeof *count);
    argument(arguments, 4, &seed, sizeof seed);
    if (!number_type(arguments, 2, &storage) ||
        !number_type(arguments, 3, &rounding) ||
        !uc_double_range(*output, *count * uc_number_bytes(storage), device,
                         "uc_fill: dst")) {
        return false;
    }
    for (uint64_t i = 0; i < *count; i++) {
        uc_number_store(*output, storage, (int64_t)i,
                        uc_number_round(value_of(seed, i), rounding));
    }
    return true;
}

/* (out, int type, ref, int type, uint64 n, uint64 seed, int rounding, sums) */
static bool run_compare(void **arguments, int device, uint64_t *count,
                        void **output)
{
    const void *out;
    const void *ref;
    enum uc_number out_type;
    enum uc_number ref_type;
    enum uc_number rounding;
    uint64_t seed;
    double difference = 0;
    double norm = 0;

    argument(arguments, 0, &out, sizeof out);
    argument(arguments, 2, &ref, sizeof ref);
    argument(arguments, 4, count, sizeof *count);
    argument(arguments, 5, &seed, sizeof seed);
    argument(arguments, 7, output, sizeof *output);
    if (!number_type(arguments, 1, &out_type) ||
        !number_type(arguments, 3, &ref_type) ||
        !number_type(arguments, 6, &rounding) ||
        !uc_double_range(out, *count * uc_number_bytes(out_type), device,
                         "uc_compare: out") ||
        !uc_double_range(ref, *count * uc_number_bytes(ref_type), device,
                         "uc_compare: ref") ||
        !uc_double_range(*output, 2 * sizeof(double), device,
                         "uc_compare: sums")) {
        return false;
    }
    for (uint64_t i = 0; i < *count; i++) {
        double expected = uc_number_load(ref, ref_type, (int64_t)i);
        double error;

        if (seed) {
            expected += uc_number_round(value_of(seed, i), rounding);
        }
        error = uc_number_load(out, out_type, (int64_t)i) - expected;
        difference += error * error;
        norm += expected * expected;
    }
    uc_number_store(*output, UC_NUMBER_FP64, 0,
                    uc_number_load(*output, UC_NUMBER_FP64, 0) + difference);
    uc_number_store(*output, UC_NUMBER_FP64, 1,
                    uc_number_load(*output, UC_NUMBER_FP64, 1) + norm);
    return true;
}

/* (uint64 ns) */
static bool run_hold(void **arguments, int device, uint64_t *count,
                     void **output)
{
    uint64_t ns;

    (void)device;
    argument(arguments, 0, &ns, sizeof ns);
    *count = ns * 100; /* an element takes a hundredth */
    *output = NULL;
    return true;
}

static struct CUfunc_st kernels[] = {
    { "uc_fill", run_fill },
    { "uc_compare", run_compare },
    { "uc_hold", run_hold },
};

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    int device;
    CUresult result = uc_double_enter_context(&device);
    CUmodule made;

    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!module || !image) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!strstr(image, ".version") || !strstr(image, ".target")) {
        uc_double_misuse("cuModuleLoadData: the image is no PTX text");
        return CUDA_ERROR_INVALID_IMAGE;
    }
    if (uc_double_capture_forbids("cuModuleLoadData")) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    made = malloc(sizeof *made);
    if (!made || !(made->text = strdup(image))) {
        free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    uc_double_add(UC_DOUBLE_LIVE, 1);
    *module = made;
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
    int device;
    CUresult result = uc_double_enter_context(&device);

    if (result == CUDA_SUCCESS && uc_double_capture_forbids("cuModuleUnload")) {
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (result == CUDA_SUCCESS) {
        uc_double_add(UC_DOUBLE_LIVE, -1);
        free(module->text);
        free(module);
    }
    return result;
}

/** Whether PTX text has ".entry NAME". */
static bool has_entry(const char *text, const char *name)
{
    size_t length = strlen(name);

    while ((text = strstr(text, ".entry"))) {
        text += strlen(".entry");
        text += strspn(text, " \t\n");
        if (strncmp(text, name, length) == 0 &&
            !isalnum((unsigned char)text[length]) && text[length] != '_') {
            return true;
        }
    }
    return false;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                             const char *name)
{
    int device;
    CUresult result = uc_double_enter_context(&device);

    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (!has_entry(module->text, name)) {
        return CUDA_ERROR_NOT_FOUND;
    }
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (strcmp(kernels[i].name, name) == 0) {
            *function = &kernels[i];
            return CUDA_SUCCESS;
        }
    }
    uc_double_misuse("kernel %s is not simulated", name);
    return CUDA_ERROR_NOT_FOUND;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x,
                        unsigned int grid_y, unsigned int grid_z,
                        unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared_bytes,
                        CUstream stream, void **arguments, void **extra)
{
    int device;
    CUresult result = uc_double_enter_context(&device);
    uint64_t threads = (uint64_t)block_x * block_y * block_z;
    uint64_t count = 0;
    void *output = NULL;

    if (result != CUDA_SUCCESS) {
        return result;
    }
    uc_double_add(UC_DOUBLE_LAUNCHES, 1);
    uc_double_log("launch kernel=%s", function->name);
    if (!grid_x || !grid_y || !grid_z || grid_x > INT32_MAX || grid_y > 65535 ||
        grid_z > 65535 || !threads || threads > 1024 || shared_bytes > 232448 ||
        !arguments || extra) {
        uc_double_misuse("cuLaunchKernel: bad launch of %s", function->name);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!uc_double_stream_valid(stream, device)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!function->run(arguments, device, &count, &output)) {
        uc_double_poison(device); /* on a GPU the next wait tells */
    }
    uc_double_submit(stream, device, 2000 + (int64_t)(count / 100), output);
    return CUDA_SUCCESS;
}
