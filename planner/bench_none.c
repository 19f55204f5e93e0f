#include "config.h"

#include "planner/bench.h"

static enum uc_status refuse(struct uc_error *err)
{
    return uc_fail(err, UC_EDEVICE,
                   "this ucudnn-plan was built without CUDA and cuDNN headers "
                   "and cannot measure");
}

enum uc_status uc_bench_run(const char *path,
                            const struct uc_network_operation *operations,
                            const int64_t *batches, size_t count,
                            const struct uc_policy *policy,
                            const struct uc_bench_options *options,
                            struct uc_bench_summary *summary,
                            struct uc_error *err)
{
    (void)path, (void)operations, (void)batches, (void)count;
    (void)policy, (void)options, (void)summary;
    return refuse(err);
}

enum uc_status uc_bench_environment(const struct uc_bench_options *options,
                                    struct uc_environment *environment,
                                    struct uc_error *err)
{
    (void)options, (void)environment;
    return refuse(err);
}
