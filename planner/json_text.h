/**
 * @file json_text.h
 * What a JSON parser does not keep: where things stand in the text.
 *
 * A parsed value has no line. It has a place in document order, though, and
 * counting values in the text up to that place gives the line. So positions
 * cost nothing until an error needs one, and the parser stays jansson.
 *
 * Units:   offsets are bytes from the start, lines count from 1.
 * Owner:   texts are borrowed; they need not end in NUL.
 * Errors:  none; any bytes may be given.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_JSON_TEXT_H
#define UC_PLANNER_JSON_TEXT_H

#include <stddef.h>
#include <stdio.h>

/**
 * NULL when the text is valid UTF-8 without NUL bytes and its brackets nest
 * at most `max_depth` deep, else what is wrong, with *offset where. The
 * reason is a constant.
 */
const char *uc_json_text_fault(const char *text, size_t length,
                               size_t max_depth, size_t *offset);

/** The line a byte is in. */
size_t uc_json_text_line(const char *text, size_t length, size_t offset);

/**
 * The line of value number `ordinal` in document order, the whole text being
 * number 0; a member of an object stands where its key does.
 */
size_t uc_json_text_value_line(const char *text, size_t length, size_t ordinal);

/** Print valid JSON text with each real number at the fewest digits that read
 * back the same: 0.95 for 0.94999999999999996. */
void uc_json_text_print(FILE *out, const char *text, size_t length);

/**
 * The keys that lead to a byte, outermost first, as the text spells them:
 * entry i is the latest key of the i-th enclosing object, borrowed from the
 * text, length 0 in an array or before the first key. A key at or around
 * the byte counts, and a closing bracket belongs to what it closes. At most
 * `max` are stored; returns the depth.
 */
struct uc_json_key {
    const char *text;
    size_t length;
};
size_t uc_json_text_path(const char *text, size_t length, size_t offset,
                         struct uc_json_key *keys, size_t max);

#endif
