#include "config.h"

#include "planner/commands.h"
#include "planner/data.h"
#include "planner/policy.h"
#include "planner/probe.h"
#include "planner/report_verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct args {
    const char *profile, *network;
    int64_t device; /**< -1: not given */
    double tolerance, kernel_timeout_s;
    bool json, quiet;
};

static const struct opt_spec opts[] = {
    { "profile", 'p', OPT_STRING, offsetof(struct args, profile), "FILE",
      "profile the plan was made from: it tells the undivided kernels" },
    { "network", 0, OPT_STRING, offsetof(struct args, network), "NAME",
      "only the plans of this network" },
    { "device", 'd', OPT_INDEX, offsetof(struct args, device), "N",
      "GPU to run on (default 0); without one, it is an error" },
    { "tolerance", 0, OPT_SHARE, offsetof(struct args, tolerance), "SHARE",
      "how much slower than predicted is fine (default 10%)" },
    { "kernel-timeout", 0, OPT_SECONDS, offsetof(struct args, kernel_timeout_s),
      "TIME", "a kernel that takes longer has hung (default 60)" },
    { "json", 0, OPT_FLAG, offsetof(struct args, json), NULL, "print JSON" },
    { "quiet", 'q', OPT_FLAG, offsetof(struct args, quiet), NULL,
      "no progress" },
    { .type = OPT_END },
};

static const struct args defaults = {
    .device = -1,
    .tolerance = UC_VERIFY_TOLERANCE,
    .kernel_timeout_s = UC_VERIFY_KERNEL_TIMEOUT_S,
};

/** What a run works on. */
struct job {
    const struct args *args;
    const char *path;
    struct uc_verify_options options;
    struct uc_profile *profile;
    struct uc_verification *list; /**< one a plan asked for */
    size_t count, ran, faults;
    char first[768]; /**< the first fault */
};

static void note_first(struct job *job, const struct uc_verification *v)
{
    char text[UC_VERIFY_TEXT];

    for (size_t i = 0; i < v->plan->operation_count; i++) {
        const struct uc_plan_operation *op = &v->plan->operations[i];

        uc_verify_fault(v, i, text);
        if (text[0] != '\0' && job->first[0] == '\0')
            snprintf(job->first, sizeof job->first, "%s: %s %s %s",
                     v->plan->network, op->layer,
                     uc_operation_name(op->problem.operation), text);
    }
    uc_verify_sequence_fault(v, text);
    if (text[0] != '\0' && job->first[0] == '\0')
        snprintf(job->first, sizeof job->first,
                 "%s: the sequence of all operations %s", v->plan->network,
                 text);
}

static enum uc_status verify(struct job *job, struct uc_verification *v,
                             struct uc_error *err)
{
    enum uc_status status = UC_OK;

    if (job->profile != NULL)
        status = uc_verify_choose(v, job->profile, err);
    if (status == UC_OK)
        status = uc_verify_run_all(v, &job->options, err);
    if (status != UC_OK)
        return status;
    job->ran++;
    job->faults += uc_verify_judge(v, job->args->tolerance);
    note_first(job, v);
    return UC_OK;
}

/** The plans asked for, nothing known of any. */
static enum uc_status choose_plans(struct job *job, const struct uc_plan *plans,
                                   size_t count, struct uc_error *err)
{
    const char *network = job->args->network;
    enum uc_status status = UC_OK;

    job->list = calloc(count + 1, sizeof *job->list);
    if (job->list == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        if (network != NULL && strcmp(plans[i].network, network) != 0)
            continue;
        status = uc_verification_init(&plans[i], &job->list[job->count], err);
        if (status == UC_OK)
            job->count++;
    }
    if (status == UC_OK && job->count == 0 && network != NULL)
        return uc_fail(err, UC_EINPUT, "%.256s: no plan of network \"%.64s\"",
                       job->path, network);
    if (status == UC_OK && job->count == 0)
        return uc_fail(err, UC_EINPUT, "%.256s: holds no plan", job->path);
    return status;
}

/** Run those that are for this machine; the others say why not. */
static enum uc_status verify_all(struct job *job,
                                 const struct uc_environment *here,
                                 struct uc_error *err)
{
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < job->count && status == UC_OK; i++) {
        struct uc_verification *v = &job->list[i];
        const char *field = uc_followed_difference(&v->plan->environment, here);

        if (field != NULL)
            snprintf(v->skipped, sizeof v->skipped,
                     "this machine differs in %s", field);
        else
            status = verify(job, v, err);
        if (status == UC_OK && !job->args->json) {
            if (i > 0)
                putchar('\n');
            status = uc_report_verification_table(stdout, v, err);
            if (status == UC_OK)
                status = command_flush(err);
        }
    }
    return status;
}

/** Whether this machine has none, and not one that does not work. */
static bool there_is_no_gpu(void)
{
    struct uc_probe probe;
    struct uc_error err;

    return uc_probe(&probe, &err) == UC_OK && probe.none;
}

/** Without a GPU: what was read is consistent, or it had been refused. */
static enum uc_status only_consistent(struct job *job, const char *why,
                                      struct uc_error *err)
{
    for (size_t i = 0; i < job->count; i++)
        snprintf(job->list[i].skipped, sizeof job->list[i].skipped, "%.*s",
                 UC_REASON_TEXT - 1, why);
    if (job->args->json)
        return uc_report_verifications_json(stdout, job->list, job->count, err);
    printf("%zu plan%s: batches, workspaces, kernels and problems are "
           "consistent\nThis is all that was checked%s, there is no GPU here: "
           "%s\n",
           job->count, job->count == 1 ? "" : "s",
           job->profile != NULL ? " (not the profile)" : "", why);
    return UC_OK;
}

static enum uc_status verdict(const struct job *job, struct uc_error *err)
{
    if (job->ran == 0)
        return uc_fail(err, UC_EDEVICE, "%.256s: no plan is for this GPU: %s",
                       job->path, job->list[0].skipped);
    if (job->faults == 0)
        return UC_OK;
    if (job->faults == 1)
        return uc_fail(err, UC_EREGRESSION, "%s", job->first);
    return uc_fail(err, UC_EREGRESSION, "%.440s; %zu more", job->first,
                   job->faults - 1);
}

static enum uc_status open_profile(struct job *job, struct uc_error *err)
{
    char path[4096];
    enum uc_status status;

    if (job->args->profile == NULL)
        return UC_OK;
    status = uc_data_find(UC_DATA_PROFILE, job->args->profile, path,
                          sizeof path, err);
    if (status == UC_OK)
        status = uc_profile_open(path, UC_PROFILE_READ, &job->profile, err);
    return status;
}

static enum uc_status run_job(struct job *job, const struct uc_plan *plans,
                              size_t count, struct uc_error *err)
{
    struct uc_environment here;
    struct uc_error no_gpu;
    enum uc_status status = choose_plans(job, plans, count, err);

    if (status == UC_OK)
        status = open_profile(job, err);
    if (status != UC_OK)
        return status;
    status = uc_verify_environment(&job->options, &here, &no_gpu);
    if (status == UC_EDEVICE && job->args->device < 0 && there_is_no_gpu())
        return only_consistent(job, no_gpu.text, err);
    if (status != UC_OK) {
        *err = no_gpu;
        return status;
    }
    status = verify_all(job, &here, err);
    if (status == UC_OK && job->args->json)
        status =
            uc_report_verifications_json(stdout, job->list, job->count, err);
    return status == UC_OK ? verdict(job, err) : status;
}

/** A plan file that contradicts itself: *err says where, and so does this. */
static enum uc_status report_inconsistent(const struct args *args,
                                          struct uc_error *err)
{
    const struct uc_error fault = *err;

    if (!args->json)
        printf("inconsistent, and not run: %s\n", fault.text);
    else if (uc_report_inconsistent_json(stdout, fault.text, err) != UC_OK)
        return err->status;
    *err = fault;
    return UC_EREGRESSION;
}

static enum uc_status run(const void *options, char **operands, size_t count,
                          struct uc_error *err)
{
    const struct args *args = options;
    struct job job = {
        .args = args,
        .path = operands[0],
        .options = { .device = args->device < 0 ? 0 : (int)args->device,
                     .tolerance = args->tolerance,
                     .kernel_timeout_s = args->kernel_timeout_s,
                     .quiet = args->quiet },
    };
    struct uc_plan *plans = NULL;
    size_t plan_count = 0;
    bool readable;
    enum uc_status status =
        uc_plans_read_told(job.path, &plans, &plan_count, &readable, err);

    (void)count;
    for (size_t i = 0; i < plan_count && status == UC_OK; i++) {
        status = uc_policy_check_plan(&plans[i], err);
        if (status != UC_OK)
            status = uc_wrap(err, status, job.path);
    }
    if (status == UC_EFILE && readable)
        status = report_inconsistent(args, err);
    else if (status == UC_OK)
        status = run_job(&job, plans, plan_count, err);
    for (size_t i = 0; i < job.count; i++)
        uc_verification_free(&job.list[i]);
    free(job.list);
    uc_profile_close(job.profile);
    uc_plans_free(plans, plan_count);
    return status;
}

const struct cmd cmd_verify = {
    .name = "verify",
    .operands = "PLAN",
    .summary = "run a plan on a GPU and compare with what it promises",
    .opts = opts,
    .args_size = sizeof(struct args),
    .defaults = &defaults,
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
