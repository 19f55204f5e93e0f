#include "config.h"

#include "runtime/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

struct symbol {
    const char *name;
    size_t offset; /**< of the member in its table */
    bool optional; /**< may be missing */
};

#define UC_STRING_(text) #text
#define UC_STRING(text) UC_STRING_(text)

/* The headers rename some functions (cuMemAlloc to cuMemAlloc_v2); the
 * expansion before UC_STRING_ gives the name the library exports. */
static const struct symbol cuda_symbols[] = {
#define UC_SYMBOL(name) \
    { UC_STRING(cu##name), offsetof(struct uc_cuda, name), false },
    UC_CUDA_FUNCTIONS(UC_SYMBOL)
#undef UC_SYMBOL
#define UC_SYMBOL(name) \
    { UC_STRING(cu##name), offsetof(struct uc_cuda, name), true },
        UC_CUDA_OPTIONAL(UC_SYMBOL)
#undef UC_SYMBOL
};

#define UC_SYMBOL(name) \
    { UC_STRING(cudnn##name), offsetof(struct uc_cudnn, name), false },
static const struct symbol cudnn_symbols[] = { UC_CUDNN_FUNCTIONS(UC_SYMBOL)
                                                   UC_CUDNN_PASSED(UC_SYMBOL) };
static const struct symbol passed_symbols[] = { UC_CUDNN_PASSED(UC_SYMBOL) };
#undef UC_SYMBOL

/** Newer headers name a version that an older driver does not have. */
static void *find(void *library, const char *name)
{
    void *function = dlsym(library, name);
    const char *version = strstr(name, "_v2");
    char plain[64];

    if (function != NULL || version == NULL ||
        (size_t)(version - name) >= sizeof plain)
        return function;
    memcpy(plain, name, (size_t)(version - name));
    plain[version - name] = '\0';
    return strcmp(plain, "cuEventElapsedTime") == 0 ? dlsym(library, plain)
                                                    : NULL;
}

static void put(void *table, const struct symbol *symbol, void *function)
{
    memcpy((char *)table + symbol->offset, &function, sizeof function);
}

/** All that there are; fails when one is missing. */
static enum uc_status resolve(void *library, const char *soname,
                              const struct symbol *symbols, size_t count,
                              void *table, struct uc_error *err)
{
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < count; i++) {
        void *function = find(library, symbols[i].name);

        put(table, &symbols[i], function);
        if (function == NULL && !symbols[i].optional && status == UC_OK)
            status = uc_fail(err, UC_EDEVICE, "%s has no function %s", soname,
                             symbols[i].name);
    }
    return status;
}

static enum uc_status resolve_cudnn(void *library, const char *soname,
                                    struct uc_cudnn *cudnn,
                                    struct uc_error *err)
{
    enum uc_status status =
        resolve(library, soname, cudnn_symbols,
                sizeof cudnn_symbols / sizeof *cudnn_symbols, cudnn, err);

    if (cudnn->GetVersion != NULL && cudnn->GetVersion() / 10000 != CUDNN_MAJOR)
        status = uc_fail(err, UC_EDEVICE,
                         "cuDNN %zu found, but major version %d is needed",
                         cudnn->GetVersion(), CUDNN_MAJOR);
    return status;
}

enum uc_status uc_cuda_open(struct uc_cuda *cuda, struct uc_error *err)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        return uc_fail(err, UC_EDEVICE,
                       "no NVIDIA driver: libcuda.so.1 cannot be opened (%s)",
                       dlerror());
    return resolve(library, "libcuda.so.1", cuda_symbols,
                   sizeof cuda_symbols / sizeof *cuda_symbols, cuda, err);
}

static void *open_cudnn(struct uc_error *err)
{
    static const char *const paths[] = { "libcudnn.so.9",
                                         CUDNN_DIR "/lib64/libcudnn.so.9",
                                         CUDNN_DIR "/lib/libcudnn.so.9" };
    char first[256] = "";

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        void *library = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
        const char *why;

        if (library != NULL)
            return library;
        why = dlerror();
        if (first[0] == '\0' && why != NULL)
            strncpy(first, why, sizeof first - 1);
    }
    uc_fail(err, UC_EDEVICE, "cuDNN 9 not found (%s)", first);
    return NULL;
}

enum uc_status uc_cudnn_open(struct uc_cudnn *cudnn, struct uc_error *err)
{
    void *library = open_cudnn(err);

    return library == NULL
               ? UC_EDEVICE
               : resolve_cudnn(library, "libcudnn.so.9", cudnn, err);
}

/* What is loaded ---------------------------------------------------------*/

/** The n-th loaded object that is named as cuDNN's libraries are. */
struct seek {
    size_t n;
    char path[PATH_MAX];
};

static int seek_object(struct dl_phdr_info *info, size_t size, void *context)
{
    const char *path = info->dlpi_name, *slash = strrchr(path, '/');
    struct seek *seek = context;

    (void)size;
    if (strncmp(slash != NULL ? slash + 1 : path, "libcudnn", 8) != 0 ||
        strlen(path) >= sizeof seek->path)
        return 0;
    if (seek->n-- > 0)
        return 0;
    strcpy(seek->path, path);
    return 1;
}

static bool has(void *library, const char *function)
{
    return library != NULL && dlsym(library, function) != NULL;
}

void *uc_cudnn_loaded(const char *function)
{
    void *library = dlopen("libcudnn.so.9", RTLD_LAZY | RTLD_NOLOAD);
    struct seek seek;

    if (has(library, function))
        return library;
    if (has(RTLD_NEXT, function))
        return RTLD_NEXT;
    /* A copy by another name, or a part of cuDNN, opened with RTLD_LOCAL. */
    for (size_t i = 0;; i++) {
        seek.n = i;
        if (dl_iterate_phdr(seek_object, &seek) == 0)
            return NULL;
        library = dlopen(seek.path, RTLD_LAZY | RTLD_NOLOAD);
        if (has(library, function))
            return library;
    }
}

/** cuDNN 8 came in parts, and a program may have loaded some of them only. */
static void resolve_parts(struct uc_cudnn *cudnn)
{
    for (size_t i = 0; i < sizeof passed_symbols / sizeof *passed_symbols;
         i++) {
        const struct symbol *symbol = &passed_symbols[i];
        void *library, *function;

        memcpy(&function, (char *)cudnn + symbol->offset, sizeof function);
        if (function == NULL &&
            (library = uc_cudnn_loaded(symbol->name)) != NULL)
            put(cudnn, symbol, dlsym(library, symbol->name));
    }
}

enum uc_status uc_cudnn_attach(struct uc_cudnn *cudnn, struct uc_error *err)
{
    void *library = uc_cudnn_loaded("cudnnConvolutionForward");
    enum uc_status status;

    if (library == NULL)
        return uc_fail(err, UC_EDEVICE, "no cuDNN is loaded");
    status = resolve_cudnn(library, "the loaded cuDNN", cudnn, err);
    if (status != UC_OK)
        resolve_parts(cudnn);
    return status;
}
