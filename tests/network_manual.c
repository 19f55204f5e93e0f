/*
 * Keys of ucudnn-network(5) and keys of the reader are the same ones.
 */
#include "config.h"

#include "planner/network_reader.h"
#include "tests/unit.h"

#include <stdlib.h>

enum { MAX_KEYS = 64 };

/** Keys that a section's tagged list documents. */
struct section {
    char keys[MAX_KEYS][32];
    size_t count;
};

static void add_keys(struct section *section, char *list)
{
    for (char *key = strtok(list, " ,\n"); key != NULL;
         key = strtok(NULL, " ,\n")) {
        assert_true(section->count < MAX_KEYS);
        assert_true(strlen(key) < sizeof section->keys[0]);
        memcpy(section->keys[section->count++], key, strlen(key) + 1);
    }
}

/** The keys in ".It Cm a , b" lines of a subsection of the page. */
static struct section read_section(const char *title)
{
    const char *source = getenv("abs_top_srcdir");
    struct section section = { .count = 0 };
    char path[4096], line[512];
    bool inside = false;
    FILE *page;

    assert_non_null(source);
    snprintf(path, sizeof path, "%s/man/ucudnn-network.5", source);
    page = fopen(path, "r");
    assert_non_null(page);
    while (fgets(line, sizeof line, page) != NULL) {
        if (strncmp(line, ".Ss ", 4) == 0)
            inside = strncmp(line + 4, title, strlen(title)) == 0;
        else if (inside && strncmp(line, ".It Cm ", 7) == 0)
            add_keys(&section, line + 7);
    }
    fclose(page);
    return section;
}

static bool has(const struct section *section, const char *key)
{
    for (size_t i = 0; i < section->count; i++)
        if (strcmp(section->keys[i], key) == 0)
            return true;
    return false;
}

static void every_key_of_layers_is_documented(void **state)
{
    struct section layers = read_section("Layers");
    size_t count = 0;

    (void)state;
    for (; uc_layer_key_name(count) != NULL; count++)
        if (!has(&layers, uc_layer_key_name(count)))
            fail_msg("not documented: %s", uc_layer_key_name(count));
    assert_int_equal(layers.count, count);
}

/** The reader's faults tell whether it knows a key of the top level. */
static void every_documented_key_of_the_top_level_is_known(void **state)
{
    struct section top = read_section("The top level");

    (void)state;
    assert_true(top.count >= 10);
    for (size_t i = 0; i < top.count; i++) {
        struct uc_network network;
        struct uc_error err;
        char text[64];

        snprintf(text, sizeof text, "{\"%s\":null}", top.keys[i]);
        assert_int_equal(uc_network_parse(text, strlen(text), "t",
                                          &UC_NETWORK_AS_IS, &network, &err),
                         UC_EINPUT);
        if (strstr(err.text, "unknown key") != NULL ||
            strstr(err.text, "belongs into") != NULL)
            fail_msg("%s", err.text);
    }
    for (size_t i = 0; uc_layer_key_name(i) != NULL; i++)
        assert_int_equal(uc_layer_key_known(uc_layer_key_name(i), true),
                         has(&top, uc_layer_key_name(i)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_of_layers_is_documented),
        cmocka_unit_test(every_documented_key_of_the_top_level_is_known),
    };

    return cmocka_run_group_tests_name("ucudnn-network(5)", tests, NULL, NULL);
}
