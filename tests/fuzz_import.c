#include "config.h"

/* The format's letter (d, b, m; other: found out), then any bytes as a list. */

#include "planner/import.h"
#include "tests/fuzz.h"

#include <string.h>

const char fuzz_name[] = "import";

struct told {
    size_t lines, wrong;
};

static void wrong(void *context, size_t line, const char *reason)
{
    struct told *told = context;

    FUZZ_CHECK(line >= 1 && line <= told->lines);
    FUZZ_CHECK(reason[0] != '\0' && strchr(reason, '\n') == NULL);
    told->wrong++;
}

/** Each batch prints as a network of as many operations. */
static void check_list(const struct uc_import_list *list)
{
    struct uc_import_batch *batches = NULL;
    size_t count = 0;
    struct uc_error err;

    FUZZ_CHECK(list->count >= 1);
    FUZZ_CHECK(uc_import_batches(list, &batches, &count, &err) == UC_OK);
    for (size_t i = 0; i < count; i++) {
        struct uc_network network = { .layers = NULL };
        int64_t operations = 0;
        char *text = NULL;
        enum uc_status status = uc_import_print(list, batches[i].batch, "fuzz",
                                                "fuzz", &text, &err);

        FUZZ_CHECK(status == UC_OK);
        FUZZ_CHECK(uc_network_parse(text, strlen(text), "fuzz",
                                    &UC_NETWORK_AS_IS, &network,
                                    &err) == UC_OK);
        FUZZ_CHECK(network.batch == batches[i].batch);
        for (size_t l = 0; l < network.layer_count; l++)
            for (int op = 0; op < UC_OPERATIONS; op++)
                if (network.layers[l].runs[op])
                    operations += network.layers[l].repeat;
        FUZZ_CHECK(operations == batches[i].operations);
        uc_network_free(&network);
        free(text);
    }
    free(batches);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct uc_import_request request = { .file = "fuzz",
                                         .runs = { true, true, true },
                                         .wrong = wrong };
    struct uc_import_list list = { NULL, 0 };
    struct told told = { .lines = 1 };
    struct uc_error err = { .text = "" };
    const char *text = (const char *)data + 1;
    enum uc_status status;

    if (size == 0)
        return 0;
    size--;
    if (data[0] == 'd' || data[0] == 'b' || data[0] == 'm')
        request.format = data[0] == 'd'   ? UC_IMPORT_DEEPBENCH
                         : data[0] == 'b' ? UC_IMPORT_BENCHDNN
                                          : UC_IMPORT_MIOPEN;
    else if (!uc_import_detect(text, size, &request.format))
        return 0;
    for (size_t i = 0; i < size; i++)
        told.lines += text[i] == '\n';
    request.context = &told;
    status = uc_import_read(text, size, &request, &list, &err);
    if (status == UC_OK)
        check_list(&list);
    else
        fuzz_check_error(status, &err);
    FUZZ_CHECK(status != UC_OK || told.wrong == 0);
    uc_import_free(&list);
    return 0;
}
