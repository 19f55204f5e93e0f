#include "config.h"

#include "planner/opt.h"

#include "planner/opt_value.h"

#include <stdio.h>
#include <string.h>

enum { HELP_INDENT = 26, HELP_WIDTH = 80 };

static const struct opt_spec help_spec = {
    .name = "help",
    .letter = 'h',
    .type = OPT_FLAG,
    .help = "print this help and exit",
};

/** An option as it stands on the command line. */
struct given {
    char shown[72];              /* as messages name it: "--batch", "-o" */
    const char *value;           /* behind '=' or the letter, NULL when none */
    const struct opt_spec *spec; /* NULL: unknown */
    size_t base;                 /* what its offset counts from */
};

/** Whether this is the option: by name[0 .. length), or by a letter. */
static bool is_option(const struct opt_spec *spec, const char *name,
                      size_t length)
{
    if (length == 0)
        return spec->letter == *name;
    return strlen(spec->name) == length &&
           memcmp(spec->name, name, length) == 0;
}

static void find(const struct cmd *cmd, const char *name, size_t length,
                 struct given *given)
{
    const struct opt_spec *const tables[] = { cmd->opts, cmd->shared };

    for (int i = 0; i < 2; i++)
        for (const struct opt_spec *spec = tables[i];
             spec != NULL && spec->type != OPT_END; spec++)
            if (is_option(spec, name, length)) {
                given->spec = spec;
                given->base = i == 0 ? 0 : cmd->shared_offset;
                return;
            }
    if (is_option(&help_spec, name, length))
        given->spec = &help_spec;
}

/** Take "--name", "--name=VALUE", "-n" or "-nVALUE" apart. */
static struct given look_up(const struct cmd *cmd, const char *argument)
{
    struct given given = { .value = NULL };
    size_t length;

    if (argument[1] == '-') {
        length = strcspn(argument + 2, "=");
        if (length > 0)
            find(cmd, argument + 2, length, &given);
        if (argument[2 + length] == '=')
            given.value = argument + 2 + length + 1;
        snprintf(given.shown, sizeof given.shown, "%.*s",
                 (int)(length > 60 ? 62 : length + 2), argument);
    } else {
        find(cmd, argument + 1, 0, &given);
        if (argument[2] != '\0')
            given.value = argument + 2;
        if (given.spec != NULL)
            snprintf(given.shown, sizeof given.shown, "-%c", argument[1]);
        else
            snprintf(given.shown, sizeof given.shown, "%.62s", argument);
    }
    return given;
}

static enum uc_status check_operands(const struct cmd *cmd, char **operands,
                                     size_t count, struct uc_error *err)
{
    if (count < cmd->min_operands)
        return uc_fail(err, UC_EINPUT, "operand missing: %s", cmd->operands);
    if (count > cmd->max_operands)
        return uc_fail(err, UC_EINPUT, "unexpected operand \"%.64s\"",
                       operands[cmd->max_operands]);
    return UC_OK;
}

/**
 * One option at argv[*at], with its value; *at moves to the last argument
 * that belongs to it.
 */
static enum uc_status take_option(const struct cmd *cmd, int argc, char **argv,
                                  int *at, void *args, int *help,
                                  struct uc_error *err)
{
    struct given given = look_up(cmd, argv[*at]);
    enum uc_status status;

    if (given.spec == NULL)
        return uc_fail(err, UC_EINPUT,
                       "unknown option %s (see ucudnn-plan %s --help)",
                       given.shown, cmd->name);
    if (!opt_takes_value(given.spec->type)) {
        if (given.value != NULL)
            return uc_fail(err, UC_EINPUT, "%s takes no value", given.shown);
    } else if (given.value == NULL) {
        if (*at + 1 >= argc)
            return uc_fail(err, UC_EINPUT, "%s needs a value: %s", given.shown,
                           given.spec->argument);
        given.value = argv[++*at];
    }
    if (given.spec == &help_spec) {
        *help = 1;
        return UC_OK;
    }
    status =
        opt_value_parse(given.spec->type, given.value,
                        (char *)args + given.base + given.spec->offset, err);
    return status == UC_OK ? UC_OK : uc_wrap(err, status, given.shown);
}

enum uc_status opt_parse(const struct cmd *cmd, int argc, char **argv,
                         void *args, size_t *operands, int *help,
                         struct uc_error *err)
{
    size_t count = 0;
    int wants_help = 0, only_operands = 0;
    enum uc_status status;

    for (int i = 0; i < argc && !wants_help; i++) {
        if (only_operands || argv[i][0] != '-' || argv[i][1] == '\0') {
            argv[count++] = argv[i];
        } else if (strcmp(argv[i], "--") == 0) {
            only_operands = 1;
        } else {
            status = take_option(cmd, argc, argv, &i, args, &wants_help, err);
            if (status != UC_OK)
                return status;
        }
    }
    if (!wants_help) {
        status = check_operands(cmd, argv, count, err);
        if (status != UC_OK)
            return status;
    }
    *operands = count;
    *help = wants_help;
    return UC_OK;
}

/** Words of `text` from column HELP_INDENT, folded at HELP_WIDTH. */
static void print_folded(const char *text)
{
    size_t column = HELP_INDENT;

    while (*text != '\0') {
        size_t length = strcspn(text, " ");

        if (column > HELP_INDENT && column + 1 + length > HELP_WIDTH) {
            printf("\n%*s", HELP_INDENT, "");
            column = HELP_INDENT;
        } else if (column > HELP_INDENT) {
            putchar(' ');
            column++;
        }
        printf("%.*s", (int)length, text);
        column += length;
        text += length + (text[length] == ' ');
    }
    putchar('\n');
}

static void print_option(const struct opt_spec *spec)
{
    int width;

    if (spec->letter != 0)
        width = printf("  -%c, --%s", spec->letter, spec->name);
    else
        width = printf("      --%s", spec->name);
    if (spec->argument != NULL)
        width += printf(" %s", spec->argument);
    if (width + 2 > HELP_INDENT) {
        putchar('\n');
        width = 0;
    }
    printf("%*s", HELP_INDENT - width, "");
    print_folded(spec->help);
}

static void print_options(const struct opt_spec *spec)
{
    for (; spec != NULL && spec->type != OPT_END; spec++)
        print_option(spec);
}

void opt_help(const struct cmd *cmd)
{
    const int has_operands = cmd->operands != NULL && *cmd->operands != '\0';

    printf("Usage: ucudnn-plan %s [OPTION...]%s%s\n\n", cmd->name,
           has_operands ? " " : "", has_operands ? cmd->operands : "");
    printf("%s: %s\n\nOptions:\n", cmd->name, cmd->summary);
    print_options(cmd->opts);
    print_options(cmd->shared);
    print_option(&help_spec);
}
