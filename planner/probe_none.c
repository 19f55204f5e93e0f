#include "config.h"

#include "planner/probe.h"

#include <stdio.h>
#include <string.h>

int uc_probe_own_version(void)
{
    return 0;
}

enum uc_status uc_probe(struct uc_probe *probe, struct uc_error *err)
{
    static const char why[] =
        "this ucudnn-plan was built without CUDA and cuDNN headers";

    (void)err;
    memset(probe, 0, sizeof *probe);
    probe->none = true;
    memcpy(probe->no_gpu, why, sizeof why);
    memcpy(probe->no_cudnn, why, sizeof why);
    memcpy(probe->no_library, why, sizeof why);
    return UC_OK;
}
