#include "config.h"

#include "planner/commands.h"
#include "planner/dump.h"

#include <errno.h>
#include <string.h>

struct args {
    const char *output;
};

static const struct opt_spec opts[] = {
    { "output", 'o', OPT_STRING, offsetof(struct args, output), "FILE",
      "profile or plan file to write; one of its kind is replaced" },
    { .type = OPT_END },
};

static enum uc_status run(const void *options, char **operands, size_t count,
                          struct uc_error *err)
{
    const struct args *args = options;
    const char *name = count == 0 || strcmp(operands[0], "-") == 0
                           ? "standard input"
                           : operands[0];
    FILE *in = stdin;
    enum uc_status status;

    if (args->output == NULL)
        return uc_fail(err, UC_EINPUT, "--output is needed");
    if (name == operands[0])
        in = fopen(name, "re");
    if (in == NULL)
        return uc_fail(err, UC_EFILE, "%.256s: %s", name, strerror(errno));
    status = uc_restore(in, name, args->output, err);
    if (in != stdin)
        fclose(in);
    return status;
}

const struct cmd cmd_restore = {
    .name = "restore",
    .operands = "[DUMP]",
    .summary = "make a profile or plan file of what dump has printed",
    .opts = opts,
    .args_size = sizeof(struct args),
    .max_operands = 1,
    .run = run,
};
