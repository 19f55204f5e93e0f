#include "config.h"

#include "planner/commands.h"

#include <string.h>

/* One a line. */
/* clang-format off */
const struct cmd *const commands[] = {
    &cmd_bench,
    &cmd_compare,
    &cmd_doctor,
    &cmd_dump,
    &cmd_help,
    &cmd_import,
    &cmd_merge,
    &cmd_networks,
    &cmd_plan,
    &cmd_record,
    &cmd_restore,
    &cmd_run,
    &cmd_show,
    &cmd_sweep,
    &cmd_verify,
    NULL,
};
/* clang-format on */

const struct cmd *command_find(const char *name)
{
    for (size_t i = 0; commands[i] != NULL; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}
