#include "config.h"

#include "tests/client/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: [--expect] [--case=TEXT] [--operation=NAME] [--one]\n"
    "       [--algorithm=N] [--repeat=N] [--workspace=BYTES] "
    "[--offset=BYTES]\n";

/** The text behind "--name=", or NULL. */
static const char *value_of(const char *argument, const char *name)
{
    size_t length = strlen(name);

    return strncmp(argument, name, length) == 0 ? argument + length : NULL;
}

bool client_parse(int argc, char **argv, struct client_options *options)
{
    struct client_options o = { .repeat = 1, .workspace_bytes = 1 << 20 };

    for (int i = 1; i < argc; i++) {
        const char *value;

        if (strcmp(argv[i], "--expect") == 0)
            o.manner = CLIENT_EXPECT;
        else if (strcmp(argv[i], "--one") == 0)
            o.one = true;
        else if ((value = value_of(argv[i], "--case=")))
            o.only = value;
        else if ((value = value_of(argv[i], "--operation=")))
            o.operation = value;
        else if ((value = value_of(argv[i], "--algorithm=")))
            o.algorithm = (int)strtol(value, NULL, 10);
        else if ((value = value_of(argv[i], "--repeat=")))
            o.repeat = (int)strtol(value, NULL, 10);
        else if ((value = value_of(argv[i], "--workspace=")))
            o.workspace_bytes = strtol(value, NULL, 10);
        else if ((value = value_of(argv[i], "--offset=")))
            o.offset = strtol(value, NULL, 10);
        else
            return false;
    }
    *options = o;
    return true;
}

/** As the double's log writes it. */
static void expect(const struct client_case *c, enum client_operation operation,
                   double alpha, double beta, FILE *out)
{
    struct client_piece pieces[CLIENT_PIECES];
    int count = client_split(c, operation, pieces);

    for (int i = 0; i < count; i++)
        for (int j = 0; j < pieces[i].count; j++) {
            bool first = i == 0 && j == 0;

            fprintf(out, "op=%s algorithm=%d n=%d alpha=%g beta=%g\n",
                    client_operation_name(operation), pieces[i].algorithm,
                    pieces[i].size, alpha,
                    operation == CLIENT_BACKWARD_FILTER && !first ? 1.0 : beta);
        }
}

static void call(const struct client_options *options,
                 struct client_problem *problem,
                 enum client_operation operation, double alpha, double beta,
                 FILE *out)
{
    cudnnStatus_t status;
    uint64_t hash;
    int nans;

    client_prefill(problem, operation, beta);
    if (options->ready != NULL)
        options->ready();
    status =
        client_convolve(problem, operation, options->algorithm, alpha, beta);
    if (options->done != NULL)
        options->done();
    hash = client_hash(problem, operation, &nans);
    fprintf(out, "%s %s alpha=%g beta=%g status=%d nans=%d %016" PRIx64 "\n",
            problem->shape.name, client_operation_name(operation), alpha, beta,
            (int)status, nans, hash);
}

/** Every alpha and beta of one operation. */
static void run_operation(const struct client_options *options,
                          const struct client_case *c,
                          struct client_problem *problem,
                          enum client_operation operation, FILE *out)
{
    static const double alphas[] = { 1, 2 }, betas[] = { 0, 0.5, 1 };

    for (int i = 0; i < (options->one ? 1 : 2); i++)
        for (int j = 0; j < (options->one ? 1 : 3); j++)
            for (int n = 0; n < options->repeat; n++)
                if (options->manner == CLIENT_EXPECT)
                    expect(c, operation, alphas[i], betas[j], out);
                else
                    call(options, problem, operation, alphas[i], betas[j], out);
}

static void run_case(const struct client_options *options,
                     const struct client *client, const struct client_case *c,
                     FILE *out)
{
    struct client_problem problem;

    if (options->manner == CLIENT_CALL)
        client_open(client, c, &problem);
    for (int op = 0; op < CLIENT_OPERATIONS; op++)
        if (options->operation == NULL ||
            strcmp(options->operation,
                   client_operation_name((enum client_operation)op)) == 0)
            run_operation(options, c, &problem, (enum client_operation)op, out);
    if (options->manner == CLIENT_CALL)
        client_close(&problem);
}

void client_run_cases(const struct client_options *options,
                      const struct client *client, FILE *out)
{
    for (int i = 0; i < client_case_count(); i++) {
        struct client_case c;

        client_case_make(i, &c);
        if (options->only == NULL || strstr(c.name, options->only) != NULL)
            run_case(options, client, &c, out);
    }
}

int client_run(int argc, char **argv)
{
    struct client_options options;
    struct client client = { 0 };
    CUcontext context;

    if (!client_parse(argc, argv, &options)) {
        fputs(usage, stderr);
        return 2;
    }
    if (options.manner == CLIENT_CALL) {
        CLIENT_DO(cuInit(0));
        CLIENT_DO(cuDevicePrimaryCtxRetain(&context, 0));
        CLIENT_DO(cuCtxSetCurrent(context));
        client_start(&client, NULL, (size_t)options.workspace_bytes);
        client.offset = (size_t)options.offset;
    }
    client_run_cases(&options, &client, stdout);
    if (options.manner == CLIENT_CALL) {
        client_stop(&client);
        CLIENT_DO(cuDevicePrimaryCtxRelease(0));
    }
    return 0;
}
