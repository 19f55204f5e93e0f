#include "config.h"

#include "planner/json_text.h"

#include "common/real.h"
#include "common/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum token { TOKEN_END, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_COLON, TOKEN_VALUE };

/** Walks over the tokens of any text, JSON or not. */
struct scanner {
    const char *text;
    size_t length;
    size_t at;    /* behind the latest token */
    size_t start; /* of the latest token */
    size_t line;  /* of the latest token */
};

static bool is_plain(char c)
{
    return strchr(" \t\r\n,:[]{}\"", c) == NULL && c != '\0';
}

/** `at` is behind the opening quote; ends behind the closing one. */
static size_t skip_string(const char *text, size_t length, size_t at)
{
    while (at < length && text[at] != '"')
        at += text[at] == '\\' ? 2 : 1;
    return at < length ? at + 1 : length;
}

static enum token next_token(struct scanner *s)
{
    const char *text = s->text;
    size_t at = s->at;

    while (at < s->length && strchr(" \t\r\n,", text[at]) != NULL)
        if (text[at++] == '\n')
            s->line++;
    s->start = at;
    if (at >= s->length) {
        s->at = s->length;
        return TOKEN_END;
    }
    s->at = at + 1;
    switch (text[at]) {
    case '{':
    case '[':
        return TOKEN_OPEN;
    case '}':
    case ']':
        return TOKEN_CLOSE;
    case ':':
        return TOKEN_COLON;
    case '"':
        s->at = skip_string(text, s->length, at + 1);
        return TOKEN_VALUE;
    default:
        while (s->at < s->length && is_plain(text[s->at]))
            s->at++;
        return TOKEN_VALUE;
    }
}

/** Whether the token just taken is a key: a colon follows. */
static bool is_key(const struct scanner *s)
{
    struct scanner ahead = *s;

    return next_token(&ahead) == TOKEN_COLON;
}

static const char *encoding_fault(const char *text, size_t length,
                                  size_t *offset)
{
    for (size_t at = 0, bytes; at < length; at += bytes) {
        uint32_t point;

        bytes = uc_text_decode(text + at, length - at, &point);
        if (bytes == 0 || text[at] == '\0') {
            *offset = at;
            return bytes == 0 ? "not valid UTF-8" : "NUL byte";
        }
    }
    return NULL;
}

const char *uc_json_text_fault(const char *text, size_t length,
                               size_t max_depth, size_t *offset)
{
    struct scanner s = { .text = text, .length = length, .line = 1 };
    const char *fault = encoding_fault(text, length, offset);
    size_t depth = 0;

    if (fault != NULL)
        return fault;
    for (enum token t = next_token(&s); t != TOKEN_END; t = next_token(&s)) {
        if (t == TOKEN_OPEN && ++depth > max_depth) {
            *offset = s.start;
            return "nested too deep";
        }
        if (t == TOKEN_CLOSE && depth > 0)
            depth--;
    }
    return NULL;
}

size_t uc_json_text_line(const char *text, size_t length, size_t offset)
{
    size_t line = 1;

    for (size_t i = 0; i < offset && i < length; i++)
        line += text[i] == '\n';
    return line;
}

size_t uc_json_text_value_line(const char *text, size_t length, size_t ordinal)
{
    struct scanner s = { .text = text, .length = length, .line = 1 };
    size_t seen = 0, key_line = 0;

    for (enum token t = next_token(&s); t != TOKEN_END; t = next_token(&s)) {
        if (t != TOKEN_VALUE && t != TOKEN_OPEN)
            continue;
        if (t == TOKEN_VALUE && is_key(&s)) {
            key_line = s.line;
            continue;
        }
        if (seen++ == ordinal)
            return key_line != 0 ? key_line : s.line;
        key_line = 0;
    }
    return s.line;
}

/** A number with a fraction or an exponent. */
static bool is_real(const char *token, size_t length)
{
    if (token[0] == '"' || length >= UC_REAL_TEXT)
        return false;
    for (size_t i = 0; i < length; i++)
        if (strchr("0123456789+-.eE", token[i]) == NULL)
            return false;
    return memchr(token, '.', length) != NULL ||
           memchr(token, 'e', length) != NULL;
}

static void print_real(FILE *out, const char *token, size_t length)
{
    char text[UC_REAL_TEXT];

    snprintf(text, sizeof text, "%.*s", (int)length, token);
    uc_real_print(strtod(text, NULL), false, text);
    /* What is real stays so for readers that tell it from integers. */
    fprintf(out, "%s%s", text, strpbrk(text, ".e") == NULL ? ".0" : "");
}

void uc_json_text_print(FILE *out, const char *text, size_t length)
{
    struct scanner s = { .text = text, .length = length, .line = 1 };
    size_t printed = 0;

    while (next_token(&s) != TOKEN_END)
        if (is_real(text + s.start, s.at - s.start)) {
            fwrite(text + printed, 1, s.start - printed, out);
            print_real(out, text + s.start, s.at - s.start);
            printed = s.at;
        }
    fwrite(text + printed, 1, length - printed, out);
}

size_t uc_json_text_path(const char *text, size_t length, size_t offset,
                         struct uc_json_key *keys, size_t max)
{
    struct scanner s = { .text = text, .length = length, .line = 1 };
    size_t depth = 0;

    for (enum token t = next_token(&s); t != TOKEN_END && s.start <= offset;
         t = next_token(&s)) {
        if (t == TOKEN_OPEN) {
            if (depth < max)
                keys[depth] = (struct uc_json_key){ NULL, 0 };
            depth++;
        } else if (t == TOKEN_CLOSE && depth > 0 && s.start < offset) {
            depth--;
        } else if (t == TOKEN_VALUE && depth > 0 && depth <= max &&
                   text[s.start] == '"' && is_key(&s)) {
            keys[depth - 1].text = text + s.start + 1;
            keys[depth - 1].length = s.at - s.start - 2;
        }
    }
    return depth;
}
