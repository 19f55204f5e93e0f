#include "config.h"

#include "planner/network_reader.h"

#include "common/text.h"
#include "planner/json_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *uc_network_text_fault(const char *text, size_t size)
{
    if (text[0] == '\0')
        return "is empty";
    if (!uc_text_is_line(text, strlen(text)))
        return "has control characters or line breaks";
    return strlen(text) < size ? NULL : "is too long";
}

__attribute__((format(printf, 3, 0))) static enum uc_status vfault(
    const struct uc_network_reader *reader, size_t line, const char *format,
    va_list args)
{
    size_t length = strlen(reader->name);
    const char *name =
        length > 160 ? reader->name + length - 160 : reader->name;
    char reason[256];

    vsnprintf(reason, sizeof reason, format, args);
    uc_fail(reader->err, UC_EINPUT, "%s%s:%zu: %s%.64s%s%s",
            name != reader->name ? "..." : "", name, line,
            reader->in_layer ? "layer \"" : "", reader->section,
            reader->in_layer             ? "\": "
            : reader->section[0] != '\0' ? ": "
                                         : "",
            reason);
    uc_text_make_line(reader->err->text);
    return UC_EINPUT;
}

enum uc_status uc_network_fault_at(const struct uc_network_reader *reader,
                                   size_t line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfault(reader, line, format, args);
    va_end(args);
    return UC_EINPUT;
}

/**
 * Counts the values before member `key` of `object` in document order. True
 * when found, with *ordinal the member's number.
 */
static bool find_member(const json_t *value, const json_t *object,
                        const char *key, size_t *ordinal)
{
    const char *name;
    const json_t *child;
    size_t i;

    ++*ordinal;
    if (json_is_object(value)) {
        json_object_foreach((json_t *)value, name, child)
        {
            if ((value == object && strcmp(name, key) == 0) ||
                find_member(child, object, key, ordinal))
                return true;
        }
    }
    json_array_foreach(value, i, child)
    {
        if (find_member(child, object, key, ordinal))
            return true;
    }
    return false;
}

enum uc_status uc_network_fault(const struct uc_network_reader *reader,
                                const json_t *object, const char *key,
                                const char *format, ...)
{
    size_t ordinal = 0;
    size_t line = 1;
    va_list args;

    if (find_member(reader->root, object, key, &ordinal))
        line = uc_json_text_value_line(reader->text, reader->length, ordinal);
    va_start(args, format);
    vfault(reader, line, format, args);
    va_end(args);
    return UC_EINPUT;
}

enum uc_status uc_network_integer(const struct uc_network_reader *reader,
                                  const json_t *object, const char *key,
                                  const json_t *value, int64_t least,
                                  int64_t most, int64_t *number)
{
    if (!json_is_integer(value))
        return uc_network_fault(reader, object, key, "%s must be an integer",
                                key);
    if (json_integer_value(value) < least)
        return uc_network_fault(reader, object, key,
                                "%s must be >= %" PRId64 ", is %" PRId64, key,
                                least, (int64_t)json_integer_value(value));
    if (json_integer_value(value) > most)
        return uc_network_fault(reader, object, key,
                                "%s must be <= %" PRId64 ", is %" PRId64, key,
                                most, (int64_t)json_integer_value(value));
    *number = json_integer_value(value);
    return UC_OK;
}

enum uc_status uc_network_text(const struct uc_network_reader *reader,
                               const json_t *object, const char *key,
                               const json_t *value, char *text, size_t size)
{
    const char *string = json_string_value(value);
    const char *reason = string == NULL ? "must be a string"
                                        : uc_network_text_fault(string, size);

    if (reason != NULL)
        return uc_network_fault(reader, object, key, "%s %s", key, reason);
    memcpy(text, string, strlen(string) + 1);
    return UC_OK;
}
