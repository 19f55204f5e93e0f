#include "config.h"

#include "planner/commands.h"
#include "planner/doctor.h"
#include "planner/launch.h"

#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct args {
    const char *profile, *plan, *match;
    int64_t device; /**< -1: not given */
    double for_s;   /**< negative: not given */
    bool keep_graph_api, json;
};

static const struct opt_spec opts[] = {
    { "profile", 'p', OPT_STRING, offsetof(struct args, profile), "FILE",
      "say whether this profile is for this machine" },
    { "plan", 0, OPT_STRING, offsetof(struct args, plan), "FILE",
      "say whether this plan is, or how much of COMMAND follows it" },
    { "device", 'd', OPT_INDEX, offsetof(struct args, device), "N",
      "GPU to look at (default 0); when it is no use, it is an error" },
    { "for", 0, OPT_SECONDS, offsetof(struct args, for_s), "TIME",
      "stop COMMAND after this long" },
    { "match", 0, OPT_STRING, offsetof(struct args, match), "HOW",
      "devices that may use the plan: exact, device or any" },
    { "keep-graph-api", 0, OPT_FLAG, offsetof(struct args, keep_graph_api),
      NULL, "do not set TORCH_CUDNN_V8_API_DISABLED=1" },
    { "json", 0, OPT_FLAG, offsetof(struct args, json), NULL, "print JSON" },
    { .type = OPT_END },
};

static const struct args defaults = { .device = -1, .for_s = -1 };

/* The machine -------------------------------------------------------------*/

/** What keeps the GPU that was asked for from what it was asked for. */
static enum uc_status check_device(const struct uc_doctor_machine *machine,
                                   struct uc_error *err)
{
    if (machine->no_use.status != UC_OK) {
        *err = machine->no_use;
        return err->status;
    }
    for (size_t i = 0; i < machine->file_count; i++) {
        const struct uc_doctor_file *file = &machine->files[i];
        const char *why = NULL;
        bool is_for = !file->asked;

        for (size_t n = 0; n < file->count && !is_for; n++)
            is_for = uc_doctor_is_for(machine, i, n, &why);
        if (!is_for)
            return uc_fail(err, UC_EDEVICE, "%.256s: not for GPU %d%s%s",
                           file->name, machine->device,
                           why != NULL ? ", differs in " : ": is empty",
                           why != NULL ? why : "");
    }
    return UC_OK;
}

static enum uc_status look(const struct args *args, struct uc_error *err)
{
    struct uc_doctor_machine machine = { .device = 0 };
    int device = args->device < 0 ? 0 : (int)args->device;
    enum uc_status status;

    signal(SIGXFSZ, SIG_IGN);
    status =
        uc_doctor_machine(&machine, device, args->profile, args->plan, err);
    if (status == UC_OK)
        status = args->json ? uc_report_machine_json(stdout, &machine, err)
                            : uc_report_machine(stdout, &machine, err);
    if (status == UC_OK)
        status = uc_doctor_machine_fault(&machine, err);
    if (status == UC_OK && args->device >= 0)
        status = check_device(&machine, err);
    uc_doctor_machine_free(&machine);
    return status;
}

/* A program ---------------------------------------------------------------*/

/** As `run` and `record` prepare it. */
static enum uc_status prepare(const struct args *args,
                              struct uc_doctor_program *program,
                              char plan[PATH_MAX], struct uc_error *err)
{
    const char *disable = getenv("UCUDNN_DISABLE"), *note = NULL, *torch;
    enum uc_status status = launch_check_match(args->match, err);

    if (status == UC_OK && disable != NULL && disable[0] != '\0' &&
        strcmp(disable, "0") != 0)
        status = uc_fail(err, UC_EINPUT,
                         "nothing can be seen: UCUDNN_DISABLE=%.32s is in the "
                         "environment",
                         disable);
    if (status == UC_OK && args->plan != NULL) {
        status = launch_check_plan(args->plan, plan, err);
        program->plan = plan;
    }
    if (status == UC_OK)
        status = launch_prepare(args->plan != NULL ? "UCUDNN_PLAN" : NULL, plan,
                                args->keep_graph_api, &note, err);
    if (status == UC_OK && note != NULL)
        fprintf(stderr, "ucudnn-plan doctor: %s\n", note);
    if (status == UC_OK && args->match != NULL &&
        setenv("UCUDNN_MATCH", args->match, 1) != 0)
        status = uc_no_memory(err);
    torch = getenv("TORCH_CUDNN_V8_API_DISABLED");
    program->torch_told = torch != NULL && strcmp(torch, "1") == 0;
    return status;
}

static enum uc_status watch(const struct args *args, char **words, size_t count,
                            struct uc_error *err)
{
    struct uc_doctor_program program = { .for_s = args->for_s };
    char plan[PATH_MAX], said[UC_DOCTOR_TEXT];
    enum uc_status status = prepare(args, &program, plan, err);

    if (status == UC_OK)
        status = uc_doctor_run(&program, words, count, err);
    signal(SIGXFSZ, SIG_IGN); /* now it is the report's */
    if (status == UC_OK)
        status =
            args->json
                ? uc_report_program_json(stdout, &program, words, count, err)
                : uc_report_program(stdout, &program, words, count, err);
    if (status == UC_OK && !uc_seen_is_well(uc_doctor_judge(&program))) {
        uc_doctor_say(&program, said);
        status = uc_fail(err, UC_EMISSING, "%.200s: %s", words[0], said);
    }
    uc_doctor_program_free(&program);
    return status;
}

static enum uc_status run(const void *options, char **operands, size_t count,
                          struct uc_error *err)
{
    const struct args *args = options;

    if (count > 0 && (args->profile != NULL || args->device >= 0))
        return uc_fail(err, UC_EINPUT,
                       "--%s is about the machine, not about a command",
                       args->profile != NULL ? "profile" : "device");
    if (count > 0)
        return watch(args, operands, count, err);
    if (args->for_s >= 0 || args->match != NULL || args->keep_graph_api)
        return uc_fail(err, UC_EINPUT, "--%s is for a command",
                       args->for_s >= 0      ? "for"
                       : args->match != NULL ? "match"
                                             : "keep-graph-api");
    return look(args, err);
}

const struct cmd cmd_doctor = {
    .name = "doctor",
    .operands = "[-- COMMAND [ARGUMENT...]]",
    .summary = "say what this machine has, or what of a program is seen",
    .opts = opts,
    .args_size = sizeof(struct args),
    .defaults = &defaults,
    .max_operands = SIZE_MAX,
    .launches = true,
    .run = run,
};
