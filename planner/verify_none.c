#include "config.h"

#include "planner/verify.h"

static enum uc_status refuse(struct uc_error *err)
{
    return uc_fail(err, UC_EDEVICE,
                   "this ucudnn-plan was built without CUDA and cuDNN headers");
}

enum uc_status uc_verify_environment(const struct uc_verify_options *options,
                                     struct uc_environment *here,
                                     struct uc_error *err)
{
    (void)options, (void)here;
    return refuse(err);
}

enum uc_status uc_verify_run_all(struct uc_verification *verification,
                                 const struct uc_verify_options *options,
                                 struct uc_error *err)
{
    (void)verification, (void)options;
    return refuse(err);
}
