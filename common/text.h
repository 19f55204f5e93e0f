/**
 * @file text.h
 * UTF-8: decoding it, and what may stand in one line for people.
 *
 * Printable is every character but control characters (C0, DEL and C1) and
 * the line and paragraph separators U+2028 and U+2029.
 *
 * Units:   lengths are bytes.
 * Owner:   texts are borrowed.
 * Errors:  none; any bytes may be given.
 * Threads: no hidden state; the locale is never consulted.
 */
#ifndef UC_COMMON_TEXT_H
#define UC_COMMON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Bytes of the character at text[0 .. left), with its number in *point; 0
 * when there is no whole, valid, shortest sequence.
 */
size_t uc_text_decode(const char *text, size_t left, uint32_t *point);

/** One line of valid UTF-8, all of it printable. */
bool uc_text_is_line(const char *text, size_t length);

/** Replace each byte that keeps a text from being such a line by '?'. */
void uc_text_make_line(char *text);

#endif
