#include "config.h"

#include "tests/fuzz.h"

#include "common/text.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void fuzz_check_error(enum uc_status status, const struct uc_error *err)
{
    FUZZ_CHECK(status != UC_OK);
    FUZZ_CHECK(err->status == status);
    FUZZ_CHECK(err->text[0] != '\0');
    FUZZ_CHECK(strchr(err->text, '\n') == NULL);
}

char *fuzz_string(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    FUZZ_CHECK(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

static char path[64];

static void remove_file(void)
{
    unlink(path);
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
    FILE *file;

    if (path[0] == '\0') {
        snprintf(path, sizeof path, "%s/ucudnn-fuzz.%ld",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
                 (long)getpid());
        atexit(remove_file);
    }
    file = fopen(path, "wb");
    FUZZ_CHECK(file != NULL);
    if (size > 0)
        FUZZ_CHECK(fwrite(data, 1, size, file) == size);
    FUZZ_CHECK(fclose(file) == 0);
    return path;
}
