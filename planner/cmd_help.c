#include "config.h"

#include "planner/commands.h"

#include <stdio.h>

void command_overview(void)
{
    printf("Usage: ucudnn-plan COMMAND [OPTION...] [OPERAND...]\n\n"
           "Plans cuDNN convolutions as micro-batches that fit a workspace"
           " limit.\n\nCommands:\n");
    for (size_t i = 0; commands[i] != NULL; i++)
        printf("  %-10s%s\n", commands[i]->name, commands[i]->summary);
    printf("\nOptions:\n"
           "  -h, --help     print this help and exit\n"
           "  -V, --version  print the version and exit\n\n"
           "ucudnn-plan COMMAND --help explains a command;"
           " ucudnn-plan(1) all of them.\n");
}

static enum uc_status run(const void *args, char **operands, size_t count,
                          struct uc_error *err)
{
    const struct cmd *cmd;

    (void)args;
    if (count == 0) {
        command_overview();
        return UC_OK;
    }
    cmd = command_find(operands[0]);
    if (cmd == NULL)
        return uc_fail(err, UC_EINPUT, "unknown command \"%.64s\"",
                       operands[0]);
    opt_help(cmd);
    return UC_OK;
}

static const struct opt_spec opts[] = { { .type = OPT_END } };

const struct cmd cmd_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "explain a command",
    .opts = opts,
    .max_operands = 1,
    .run = run,
};
