#include "config.h"

#include "planner/probe.h"

#include "planner/child.h"
#include "planner/launch.h"
#include "runtime/describe.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double timeout_s = 60;

int uc_probe_own_version(void)
{
    int major = 0, minor = 0, patch = 0;

    /* NOLINTNEXTLINE(cert-err34-c): three numbers of ours */
    sscanf(PACKAGE_VERSION, "%d.%d.%d", &major, &minor, &patch);
    return major * 10000 + minor * 100 + patch;
}

static void put(char text[UC_PROBE_TEXT], const char *words)
{
    snprintf(text, UC_PROBE_TEXT, "%s", words);
}

/* In the children ----------------------------------------------------------*/

static void put_cuda(char text[UC_PROBE_TEXT], const struct uc_cuda *cuda,
                     CUresult result)
{
    const char *words = NULL;

    if (cuda->GetErrorString(result, &words) != CUDA_SUCCESS || words == NULL)
        words = "unknown error";
    snprintf(text, UC_PROBE_TEXT, "CUDA error %d: %s", (int)result, words);
}

static void look_for_gpus(struct uc_probe *p)
{
    struct uc_versions versions = { 0 };
    struct uc_cuda cuda;
    struct uc_error err;
    CUresult result;

    if (uc_cuda_open(&cuda, &err) != UC_OK) {
        void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);

        p->none = driver == NULL; /* else it lacks something */
        put(p->no_gpu, err.text);
        return;
    }
    if (uc_describe_driver(&cuda, &versions) == CUDA_SUCCESS)
        p->cuda = versions.cuda;
    memcpy(p->driver, versions.driver, sizeof p->driver);
    result = cuda.Init(0);
    if (result == CUDA_SUCCESS)
        result = cuda.DeviceGetCount(&p->gpu_count);
    for (int i = 0; i < p->gpu_count && i < UC_PROBE_GPUS && !result; i++) {
        CUdevice device;

        result = cuda.DeviceGet(&device, i);
        if (result == CUDA_SUCCESS)
            result = uc_describe_device(&cuda, device, &p->gpus[i]);
    }
    p->none = result == CUDA_ERROR_NO_DEVICE ||
              (result == CUDA_SUCCESS && p->gpu_count == 0);
    if (result != CUDA_SUCCESS)
        put_cuda(p->no_gpu, &cuda, result);
    else if (p->gpu_count == 0)
        put(p->no_gpu, "the driver sees none");
}

/** Where a function is from. */
static void file_of(const void *function, char path[UC_PROBE_PATH])
{
    char whole[PATH_MAX];
    Dl_info info;

    if (dladdr(function, &info) == 0 || info.dli_fname == NULL)
        return;
    snprintf(path, UC_PROBE_PATH, "%s",
             realpath(info.dli_fname, whole) != NULL ? whole : info.dli_fname);
}

static void look_for_cudnn(struct uc_probe *p)
{
    struct uc_cudnn cudnn;
    struct uc_error err;
    void *function;

    if (uc_cudnn_open(&cudnn, &err) != UC_OK) {
        put(p->no_cudnn, err.text);
        return;
    }
    p->cudnn = (int)cudnn.GetVersion();
    memcpy(&function, &cudnn.GetVersion, sizeof function);
    file_of(function, p->cudnn_path);
}

static void look_at_library(struct uc_probe *p)
{
    void *library = dlopen(p->library_path, RTLD_NOW | RTLD_LOCAL), *symbol;
    int (*version)(void);

    symbol = library != NULL ? dlsym(library, "ucudnn_get_version") : NULL;
    if (symbol == NULL) {
        put(p->no_library, dlerror());
        return;
    }
    memcpy(&version, &symbol, sizeof version);
    p->library = version();
}

/* In the parent ------------------------------------------------------------*/

struct look {
    void (*at)(struct uc_probe *probe);
    struct uc_probe *probe;
};

static int child_body(void *context, int fd)
{
    const struct look *look = context;

    look->at(look->probe);
    uc_child_say(fd, look->probe, sizeof *look->probe);
    return 0;
}

/** One finding; a child that says nothing is one. */
static enum uc_status look_at(struct uc_probe *probe,
                              void (*at)(struct uc_probe *probe),
                              char fault[UC_PROBE_TEXT], struct uc_error *err)
{
    struct look look = { at, probe };
    struct uc_child child = { 0 };
    struct uc_probe seen;
    enum uc_child_word word;
    char how[128];
    enum uc_status status = uc_child_start(&child, child_body, &look, err);

    if (status != UC_OK)
        return status;
    word = uc_child_hear(&child, &seen, sizeof seen, timeout_s);
    uc_child_stop(&child, how, sizeof how);
    if (word == UC_CHILD_SAID)
        *probe = seen;
    else
        snprintf(fault, UC_PROBE_TEXT, "%s when it was looked at: %s",
                 word == UC_CHILD_SILENT ? "no answer" : "the process died",
                 how);
    return UC_OK;
}

enum uc_status uc_probe(struct uc_probe *probe, struct uc_error *err)
{
    struct uc_error none;
    enum uc_status status;

    memset(probe, 0, sizeof *probe);
    status = look_at(probe, look_for_gpus, probe->no_gpu, err);
    if (status == UC_OK)
        status = look_at(probe, look_for_cudnn, probe->no_cudnn, err);
    if (status != UC_OK)
        return status;
    if (launch_find_library(probe->library_path, &none) == UC_OK)
        return look_at(probe, look_at_library, probe->no_library, err);
    put(probe->no_library, none.text);
    return UC_OK;
}
