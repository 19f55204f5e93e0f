#include "config.h"

/*
 * Feeds a fuzzer the files of its corpus, in make check; with arguments,
 * those files instead. A file that breaks the fuzzer ends the program.
 */

#include "tests/fuzz.h"

#include <dirent.h>
#include <string.h>

static void replay(const char *path, const char *name, int number)
{
    FILE *file = fopen(path, "rb");
    size_t room = 1 << 16, used = 0, got;
    uint8_t *bytes = malloc(room);

    FUZZ_CHECK(file != NULL);
    FUZZ_CHECK(bytes != NULL);
    while ((got = fread(bytes + used, 1, room - used, file)) > 0) {
        used += got;
        if (used == room) {
            uint8_t *grown = realloc(bytes, room *= 2);

            FUZZ_CHECK(grown != NULL);
            bytes = grown;
        }
    }
    FUZZ_CHECK(ferror(file) == 0);
    fclose(file);
    /* Of its exact size, so that reading behind it is seen. */
    bytes = realloc(bytes, used > 0 ? used : 1);
    FUZZ_CHECK(bytes != NULL);
    LLVMFuzzerTestOneInput(bytes, used);
    free(bytes);
    printf("ok %d - %s\n", number, name);
    fflush(stdout);
}

static int no_dots(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    const char *source = getenv("abs_top_srcdir");
    struct dirent **entries = NULL;
    char folder[4096], path[4096 + 256 + 2];
    int count;

    for (int i = 1; i < argc; i++)
        replay(argv[i], argv[i], i);
    if (argc > 1)
        return 0;
    FUZZ_CHECK(source != NULL);
    snprintf(folder, sizeof folder, "%s/tests/corpus/%s", source, fuzz_name);
    count = scandir(folder, &entries, no_dots, alphasort);
    FUZZ_CHECK(count > 0);
    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        replay(path, entries[i]->d_name, i + 1);
        free(entries[i]);
    }
    free(entries);
    return 0;
}
