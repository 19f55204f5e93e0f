#include "config.h"

#include "planner/import_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The driver's options. Those before WORDS are numbers, those before PASSED
   words, and the rest says nothing of the convolution. */
enum option {
    N,
    C,
    K,
    GROUPS,
    FORW,
    DIMENSIONS,
    VECTOR,
    IN, /* D, H, W each, from here to the words */
    FILTER = IN + 3,
    STRIDE = FILTER + 3,
    PAD = STRIDE + 3,
    DILATION = PAD + 3,
    OUTPUT_PAD = DILATION + 3,
    WORDS = OUTPUT_PAD + 3,
    MODE = WORDS,
    PAD_MODE,
    IN_LAYOUT,
    OUT_LAYOUT,
    FIL_LAYOUT,
    IN_CAST,
    OUT_CAST,
    WEI_CAST,
    PASSED
};

static const struct spec {
    const char *name;
    char letter;
    int option; /* enum option */
    int64_t least;
} specs[] = {
    { "batchsize", 'n', N, 1 },
    { "in_channels", 'c', C, 1 },
    { "out_channels", 'k', K, 1 },
    { "group_count", 'g', GROUPS, 0 },
    { "forw", 'F', FORW, 0 },
    { "spatial_dim", '_', DIMENSIONS, 2 },
    { "tensor_vect", 'Z', VECTOR, 0 },
    { "in_d", '!', IN, 1 },
    { "in_h", 'H', IN + 1, 1 },
    { "in_w", 'W', IN + 2, 1 },
    { "fil_d", '@', FILTER, 1 },
    { "fil_h", 'y', FILTER + 1, 1 },
    { "fil_w", 'x', FILTER + 2, 1 },
    { "conv_stride_d", '#', STRIDE, 1 },
    { "conv_stride_h", 'u', STRIDE + 1, 1 },
    { "conv_stride_w", 'v', STRIDE + 2, 1 },
    { "conv_stride_0", '\0', STRIDE + 1, 1 }, /* before 3-D */
    { "conv_stride_1", '\0', STRIDE + 2, 1 },
    { "pad_d", '$', PAD, 0 },
    { "pad_h", 'p', PAD + 1, 0 },
    { "pad_w", 'q', PAD + 2, 0 },
    { "dilation_d", '^', DILATION, 1 },
    { "dilation_h", 'l', DILATION + 1, 1 },
    { "dilation_w", 'j', DILATION + 2, 1 },
    { "trans_output_pad_d", '%', OUTPUT_PAD, 0 },
    { "trans_output_pad_h", 'Y', OUTPUT_PAD + 1, 0 },
    { "trans_output_pad_w", 'X', OUTPUT_PAD + 2, 0 },
    { "mode", 'm', MODE, 0 },
    { "pad_mode", 'z', PAD_MODE, 0 },
    { "in_layout", 'I', IN_LAYOUT, 0 },
    { "out_layout", 'O', OUT_LAYOUT, 0 },
    { "fil_layout", 'f', FIL_LAYOUT, 0 },
    { "in_cast_type", 'U', IN_CAST, 0 },
    { "out_cast_type", 'T', OUT_CAST, 0 },
    { "wei_cast_type", 'R', WEI_CAST, 0 },
    { "pad_val", 'r', PASSED, 0 },
    { "iter", 'i', PASSED, 0 },
    { "verify", 'V', PASSED, 0 },
    { "verification_cache", 'C', PASSED, 0 },
    { "time", 't', PASSED, 0 },
    { "wall", 'w', PASSED, 0 },
    { "search", 's', PASSED, 0 },
    { "printconv", 'P', PASSED, 0 },
    { "dump_output", 'o', PASSED, 0 },
    { "in_data", 'd', PASSED, 0 },
    { "weights", 'e', PASSED, 0 },
    { "bias", 'b', PASSED, 0 },
    { "in_bias", 'a', PASSED, 0 },
    { "dout_data", 'D', PASSED, 0 },
    { "solution", 'S', PASSED, 0 },
    { "gpualloc", 'G', PASSED, 0 },
    { "vector_length", 'L', PASSED, 0 },
};

/** A command line's options. */
struct command {
    int64_t number[WORDS];
    const char *word[PASSED];
};

static const struct command no_options = {
    .number = { [N] = 100,
                [C] = 3,
                [K] = 32,
                [GROUPS] = 1,
                [DIMENSIONS] = 2,
                [IN] = 32,
                32,
                32,
                3,
                3,
                3,
                1,
                1,
                1,
                0,
                0,
                0,
                1,
                1,
                1 },
    .word = { [MODE] = "conv",
              [PAD_MODE] = "default",
              [IN_LAYOUT] = "",
              "",
              "",
              "-1",
              "-1",
              "-1" },
};

/** Without quotes around it. */
static char *bare(char *word)
{
    size_t length = strlen(word);

    if (length < 2 || (word[0] != '\'' && word[0] != '"') ||
        word[length - 1] != word[0])
        return word;
    word[length - 1] = '\0';
    return word + 1;
}

static const struct spec *find_spec(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        const char *name = specs[i].name;

        if (word[1] == '-' ? strlen(name) == length - 2 &&
                                 memcmp(name, word + 2, length - 2) == 0
                           : length == 2 && word[1] == specs[i].letter)
            return &specs[i];
    }
    return NULL;
}

/** Options and their values up to the end of the line. */
static bool read_options(struct uc_import_reader *reader, char *text,
                         struct command *command)
{
    for (char *word; (word = uc_import_word(&text)) != NULL;) {
        const struct spec *spec;
        size_t length;
        char *value;

        word = bare(word);
        if (word[0] == '-' && word[1] == '\\' && word[2] != '\0')
            *++word = '-'; /* a shell's escape: -\! */
        length = word[0] == '-' && word[1] == '-' ? strcspn(word, "=")
                                                  : strlen(word);
        spec = word[0] == '-' && length >= 2 ? find_spec(word, length) : NULL;
        if (spec == NULL) {
            uc_import_wrong(reader, "unknown option \"%.40s\"", word);
            return false;
        }
        value = word[length] == '=' ? word + length + 1 : uc_import_word(&text);
        if (value == NULL) {
            uc_import_wrong(reader, "%.40s needs a value", word);
            return false;
        }
        value = bare(value);
        if (spec->option < WORDS) {
            if (!uc_import_number(reader, spec->name, value, spec->least,
                                  &command->number[spec->option]))
                return false;
        } else if (spec->option < PASSED) {
            command->word[spec->option] = value;
        }
    }
    return true;
}

/** "NCHW", "NDHWC" and the like; none is NCHW. */
static bool parse_layout(const char *word, int spatial, enum uc_layout *layout)
{
    if (word[0] == '\0' ||
        strcasecmp(word, spatial == 3 ? "NCDHW" : "NCHW") == 0)
        *layout = UC_NCHW;
    else if (strcasecmp(word, spatial == 3 ? "NDHWC" : "NHWC") == 0)
        *layout = UC_NHWC;
    else
        return false;
    return true;
}

static bool set_layouts(struct uc_import_reader *reader,
                        const struct command *command,
                        struct uc_problem *problem)
{
    struct {
        const char *word;
        enum uc_layout *layout;
    } all[] = {
        { command->word[IN_LAYOUT], &problem->x.kind },
        { command->word[OUT_LAYOUT], &problem->y.kind },
        { command->word[FIL_LAYOUT], &problem->w.kind },
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!parse_layout(all[i].word, problem->spatial, all[i].layout)) {
            uc_import_wrong(reader, "layout \"%.40s\" is not %s", all[i].word,
                            problem->spatial == 3 ? "NCDHW or NDHWC"
                                                  : "NCHW or NHWC");
            return false;
        }
    if (problem->x.kind == problem->y.kind)
        return true;
    uc_import_wrong(reader, "in_layout and out_layout differ");
    return false;
}

/** What a description cannot say. */
static bool check_words(struct uc_import_reader *reader,
                        const struct command *command)
{
    const int64_t *n = command->number;
    const char *const *w = command->word;
    const char *mode = w[PAD_MODE];

    if (n[DIMENSIONS] > 3)
        uc_import_wrong(reader, "spatial_dim must be 2 or 3");
    else if (n[FORW] > 7)
        uc_import_wrong(reader, "forw must be 0 to 7");
    else if (n[VECTOR] != 0)
        uc_import_wrong(reader, "vectorized tensors are not known");
    else if (strcmp(w[IN_CAST], "-1") != 0 || strcmp(w[OUT_CAST], "-1") != 0 ||
             strcmp(w[WEI_CAST], "-1") != 0)
        uc_import_wrong(reader, "casts are not known");
    else if (strcmp(w[MODE], "conv") != 0 && strcmp(w[MODE], "trans") != 0)
        uc_import_wrong(reader, "mode \"%.40s\" is not conv or trans", w[MODE]);
    else if (strcmp(mode, "default") != 0 && strcmp(mode, "same") != 0 &&
             strcmp(mode, "valid") != 0)
        uc_import_wrong(reader,
                        "pad_mode \"%.40s\" is not same, valid or "
                        "default",
                        mode);
    else
        return true;
    return false;
}

static bool all_ones(const int64_t *values, int count)
{
    for (int i = 0; i < count; i++)
        if (values[i] != 1)
            return false;
    return true;
}

/** The driver's own rule; it has none for wide filters with dilation. */
static void apply_pad_mode(const char *mode, struct uc_problem *p)
{
    if (strcmp(mode, "default") == 0 || (!all_ones(p->dilation, p->spatial) &&
                                         !all_ones(p->filter, p->spatial)))
        return;
    for (int i = 0; i < p->spatial; i++) {
        int64_t rest = p->in[i] % p->stride[i];
        int64_t all = p->filter[i] - (rest == 0 ? p->stride[i] : rest);

        p->pad[i] = strcmp(mode, "valid") == 0 || all < 0 ? 0 : all / 2;
    }
}

/**
 * A transposed convolution leads from the smaller tensor to the larger:
 * described is the convolution that leads back.
 */
static bool transpose(struct uc_import_reader *reader, const int64_t *extra,
                      struct uc_import_item *item)
{
    struct uc_problem *p = &item->problem;
    int64_t c = p->c;
    bool forward = item->runs[UC_FORWARD];

    p->c = p->k;
    p->k = c;
    item->runs[UC_FORWARD] = item->runs[UC_BACKWARD_DATA];
    item->runs[UC_BACKWARD_DATA] = forward;
    for (int i = 0; i < p->spatial; i++) {
        int64_t reach = p->dilation[i] * (p->filter[i] - 1) + 1;

        if (extra[i] >= p->stride[i]) {
            uc_import_wrong(reader,
                            "output padding %" PRId64 " is not below the "
                            "stride %" PRId64,
                            extra[i], p->stride[i]);
            return false;
        }
        p->in[i] =
            (p->in[i] - 1) * p->stride[i] + reach - 2 * p->pad[i] + extra[i];
    }
    return true;
}

static void add(struct uc_import_reader *reader, const struct command *command,
                enum uc_dtype type)
{
    const int64_t *n = command->number;
    int spatial = (int)n[DIMENSIONS], skip = 3 - spatial;
    size_t size = (size_t)spatial * sizeof(int64_t);
    struct uc_import_item item = { .batch = n[N] };
    struct uc_problem *p = &item.problem;
    int64_t forw = n[FORW] == 0 ? 7 : n[FORW];

    *p = uc_import_problem(spatial, type);
    p->c = n[C];
    p->k = n[K];
    p->groups = n[GROUPS] == 0 ? 1 : n[GROUPS];
    memcpy(p->in, n + IN + skip, size);
    memcpy(p->filter, n + FILTER + skip, size);
    memcpy(p->stride, n + STRIDE + skip, size);
    memcpy(p->pad, n + PAD + skip, size);
    memcpy(p->dilation, n + DILATION + skip, size);
    item.runs[UC_FORWARD] = (forw & 1) != 0;
    item.runs[UC_BACKWARD_DATA] = (forw & 2) != 0;
    item.runs[UC_BACKWARD_FILTER] = (forw & 4) != 0;
    if (!set_layouts(reader, command, p))
        return;
    if (strcmp(command->word[MODE], "conv") == 0)
        apply_pad_mode(command->word[PAD_MODE], p);
    else if (!transpose(reader, n + OUTPUT_PAD + skip, &item))
        return;
    uc_import_add(reader, &item);
}

static bool parse_base(const char *word, enum uc_dtype *type)
{
    static const struct {
        const char *name;
        enum uc_dtype type;
    } bases[] = {
        { "conv", UC_FP32 },
        { "convfp16", UC_FP16 },
        { "convbfp16", UC_BF16 },
    };

    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        if (strcmp(word, bases[i].name) == 0) {
            *type = bases[i].type;
            return true;
        }
    return false;
}

static const char program[] = "MIOpenDriver";

static void read_line(struct uc_import_reader *reader, char *line)
{
    char *driver = strstr(line, program), *base;
    struct command command = no_options;
    enum uc_dtype type;

    if (driver != NULL)
        line = driver + strcspn(driver, " ");
    base = uc_import_word(&line);
    if (base == NULL || !parse_base(base, &type)) {
        uc_import_wrong(reader,
                        "\"%.40s\" is none of conv, convfp16, convbfp16",
                        base == NULL ? "" : base);
        return;
    }
    if (read_options(reader, line, &command) && check_words(reader, &command))
        add(reader, &command, type);
}

void uc_import_miopen(struct uc_import_reader *reader)
{
    char *line;

    while (uc_import_next(reader, &line))
        if (line[strspn(line, " ")] != '#')
            read_line(reader, line);
}

bool uc_import_is_miopen(const char *line)
{
    size_t length = strcspn(line, " ");
    char word[16];
    enum uc_dtype type;

    if (strstr(line, program) != NULL)
        return true;
    snprintf(word, sizeof word, "%.*s", (int)(length < 15 ? length : 15), line);
    return parse_base(word, &type);
}
