#include "config.h"

#include "tests/network_walks.h"
#include "tests/unit.h"

int slide(int extent, int filter, int stride, int pad)
{
    int positions = 0;

    for (int at = -pad; at + filter <= extent + pad; at += stride)
        positions++;
    return positions;
}

static struct shape through(struct shape in, struct window w)
{
    in.h = slide(in.h, w.fh, w.stride, w.ph);
    in.w = slide(in.w, w.fw, w.stride, w.pw);
    if (in.rank == 3)
        in.d = slide(in.d, w.fh, w.stride, w.ph);
    return in;
}

static struct shape conv_window(struct walk *walk, struct shape in, int k,
                                struct window window, int groups)
{
    struct seen seen = { in, k, groups, window, walk->count == 0 };
    struct shape out = through(in, window);

    assert_true(walk->count < MAX_SEEN);
    walk->seen[walk->count++] = seen;
    out.c = k;
    return out;
}

static struct shape conv(struct walk *walk, struct shape in, int k, int filter,
                         int stride, int pad)
{
    struct window window = { filter, filter, stride, pad, pad };

    return conv_window(walk, in, k, window, 1);
}

/** Filter h x w that keeps the extents. */
static struct shape conv_same(struct walk *walk, struct shape in, int k, int h,
                              int w)
{
    struct window window = { h, w, 1, h / 2, w / 2 };

    return conv_window(walk, in, k, window, 1);
}

static struct shape pool(struct shape in, int filter, int stride, int pad)
{
    struct window window = { filter, filter, stride, pad, pad };

    return through(in, window);
}

static struct shape concat(struct shape a, struct shape b)
{
    assert_true(a.d == b.d && a.h == b.h && a.w == b.w);
    a.c += b.c;
    return a;
}

void walk_alexnet(struct walk *walk)
{
    struct shape x = { 2, 3, 1, 224, 224 };

    x = pool(conv(walk, x, 64, 11, 4, 2), 3, 2, 0);
    x = pool(conv(walk, x, 192, 5, 1, 2), 3, 2, 0);
    x = conv(walk, x, 384, 3, 1, 1);
    x = conv(walk, x, 256, 3, 1, 1);
    x = pool(conv(walk, x, 256, 3, 1, 1), 3, 2, 0);
    assert_true(x.c == 256 && x.h == 6 && x.w == 6);
}

void walk_alexnet_grouped(struct walk *walk)
{
    static const struct window five = { 5, 5, 1, 2, 2 },
                               three = { 3, 3, 1, 1, 1 };
    struct shape x = { 2, 3, 1, 227, 227 };

    x = pool(conv(walk, x, 96, 11, 4, 0), 3, 2, 0);
    x = pool(conv_window(walk, x, 256, five, 2), 3, 2, 0);
    x = conv(walk, x, 384, 3, 1, 1);
    x = conv_window(walk, x, 384, three, 2);
    x = pool(conv_window(walk, x, 256, three, 2), 3, 2, 0);
    assert_true(x.c == 256 && x.h == 6 && x.w == 6);
}

void walk_vgg16(struct walk *walk)
{
    static const int widths[] = { 64, 64,  0,   128, 128, 0,   256, 256, 256,
                                  0,  512, 512, 512, 0,   512, 512, 512, 0 };
    struct shape x = { 2, 3, 1, 224, 224 };

    for (size_t i = 0; i < UNIT_COUNT(widths); i++)
        x = widths[i] > 0 ? conv(walk, x, widths[i], 3, 1, 1)
                          : pool(x, 2, 2, 0);
    assert_true(x.c == 512 && x.h == 7);
}

static struct shape basic_block(struct walk *walk, struct shape x, int width,
                                int stride)
{
    struct shape y =
        conv(walk, conv(walk, x, width, 3, stride, 1), width, 3, 1, 1);

    if (x.c != y.c || stride > 1)
        conv(walk, x, width, 1, stride, 0);
    return y;
}

static struct shape bottleneck(struct walk *walk, struct shape x, int width,
                               int stride)
{
    struct shape y = conv(walk, x, width, 1, 1, 0);

    y = conv(walk, conv(walk, y, width, 3, stride, 1), 4 * width, 1, 1, 0);
    if (x.c != y.c || stride > 1)
        conv(walk, x, 4 * width, 1, stride, 0);
    return y;
}

void walk_resnet18(struct walk *walk)
{
    struct shape x = { 2, 3, 1, 224, 224 };

    x = pool(conv(walk, x, 64, 7, 2, 3), 3, 2, 1);
    for (int stage = 0; stage < 4; stage++)
        for (int block = 0; block < 2; block++)
            x = basic_block(walk, x, 64 << stage,
                            block == 0 && stage > 0 ? 2 : 1);
    assert_true(x.c == 512 && x.h == 7);
}

void walk_resnet50(struct walk *walk)
{
    static const int blocks[] = { 3, 4, 6, 3 };
    struct shape x = { 2, 3, 1, 224, 224 };

    x = pool(conv(walk, x, 64, 7, 2, 3), 3, 2, 1);
    for (int stage = 0; stage < 4; stage++)
        for (int block = 0; block < blocks[stage]; block++)
            x = bottleneck(walk, x, 64 << stage,
                           block == 0 && stage > 0 ? 2 : 1);
    assert_true(x.c == 2048 && x.h == 7);
}

void walk_densenet(struct walk *walk, int growth)
{
    struct shape x = { 2, 3, 1, 32, 32 };

    x = conv(walk, x, 16, 3, 1, 1);
    for (int block = 0; block < 3; block++) {
        if (block > 0)
            x = pool(conv(walk, x, x.c, 1, 1, 0), 2, 2, 0);
        for (int layer = 0; layer < 12; layer++)
            x = concat(x, conv(walk, x, growth, 3, 1, 1));
    }
    assert_true(x.c == 16 + 36 * growth && x.h == 8);
}

void walk_densenet40(struct walk *walk)
{
    walk_densenet(walk, 40);
}

void walk_mobilenet_v2(struct walk *walk)
{
    /* The paper's table 2: expansion t, channels c, repeats n, stride s. */
    static const int rows[][4] = { { 1, 16, 1, 1 }, { 6, 24, 2, 2 },
                                   { 6, 32, 3, 2 }, { 6, 64, 4, 2 },
                                   { 6, 96, 3, 1 }, { 6, 160, 3, 2 },
                                   { 6, 320, 1, 1 } };
    struct shape x = { 2, 3, 1, 224, 224 };

    x = conv(walk, x, 32, 3, 2, 1);
    for (size_t row = 0; row < UNIT_COUNT(rows); row++)
        for (int i = 0; i < rows[row][2]; i++) {
            int inner = rows[row][0] * x.c;
            struct window window = { 3, 3, i == 0 ? rows[row][3] : 1, 1, 1 };

            if (inner != x.c)
                x = conv(walk, x, inner, 1, 1, 0);
            x = conv_window(walk, x, inner, window, inner);
            x = conv(walk, x, rows[row][1], 1, 1, 0);
        }
    x = conv(walk, x, 1280, 1, 1, 0);
    assert_true(x.h == 7);
}

/** Figure 5 of the Inception-v3 paper. */
static struct shape inception_5(struct walk *walk, struct shape x, int pooled)
{
    struct shape a = conv(walk, x, 64, 1, 1, 0);
    struct shape b = conv_same(walk, conv(walk, x, 48, 1, 1, 0), 64, 5, 5);
    struct shape c = conv_same(walk, conv(walk, x, 64, 1, 1, 0), 96, 3, 3);
    struct shape d = conv(walk, pool(x, 3, 1, 1), pooled, 1, 1, 0);

    c = conv_same(walk, c, 96, 3, 3);
    return concat(concat(a, b), concat(c, d));
}

/** Figure 6, n = 7. */
static struct shape inception_6(struct walk *walk, struct shape x, int width)
{
    struct shape a = conv(walk, x, 192, 1, 1, 0);
    struct shape b = conv(walk, x, width, 1, 1, 0);
    struct shape c = conv(walk, x, width, 1, 1, 0);
    struct shape d = conv(walk, pool(x, 3, 1, 1), 192, 1, 1, 0);

    b = conv_same(walk, conv_same(walk, b, width, 1, 7), 192, 7, 1);
    c = conv_same(walk, conv_same(walk, c, width, 7, 1), width, 1, 7);
    c = conv_same(walk, conv_same(walk, c, width, 7, 1), 192, 1, 7);
    return concat(concat(a, b), concat(c, d));
}

/** Figure 7. */
static struct shape inception_7(struct walk *walk, struct shape x)
{
    struct shape a = conv(walk, x, 320, 1, 1, 0);
    struct shape b = conv(walk, x, 384, 1, 1, 0);
    struct shape c = conv_same(walk, conv(walk, x, 448, 1, 1, 0), 384, 3, 3);
    struct shape d = conv(walk, pool(x, 3, 1, 1), 192, 1, 1, 0);

    b = concat(conv_same(walk, b, 384, 1, 3), conv_same(walk, b, 384, 3, 1));
    c = concat(conv_same(walk, c, 384, 1, 3), conv_same(walk, c, 384, 3, 1));
    return concat(concat(a, b), concat(c, d));
}

void walk_inception_v3(struct walk *walk)
{
    static const int widths[] = { 128, 160, 160, 192 };
    struct shape x = { 2, 3, 1, 299, 299 }, a, b;

    x = conv(walk, conv(walk, x, 32, 3, 2, 0), 32, 3, 1, 0);
    x = pool(conv(walk, x, 64, 3, 1, 1), 3, 2, 0);
    x = pool(conv(walk, conv(walk, x, 80, 1, 1, 0), 192, 3, 1, 0), 3, 2, 0);
    x = inception_5(walk, x, 32);
    x = inception_5(walk, inception_5(walk, x, 64), 64);
    assert_true(x.c == 288 && x.h == 35);
    a = conv(walk, x, 384, 3, 2, 0);
    b = conv_same(walk, conv(walk, x, 64, 1, 1, 0), 96, 3, 3);
    b = conv(walk, b, 96, 3, 2, 0);
    x = concat(concat(a, b), pool(x, 3, 2, 0));
    for (size_t i = 0; i < UNIT_COUNT(widths); i++)
        x = inception_6(walk, x, widths[i]);
    assert_true(x.c == 768 && x.h == 17);
    a = conv(walk, conv(walk, x, 192, 1, 1, 0), 320, 3, 2, 0);
    b = conv_same(walk, conv(walk, x, 192, 1, 1, 0), 192, 1, 7);
    b = conv(walk, conv_same(walk, b, 192, 7, 1), 192, 3, 2, 0);
    x = concat(concat(a, b), pool(x, 3, 2, 0));
    assert_true(x.c == 1280 && x.h == 8);
    x = inception_7(walk, inception_7(walk, x));
    assert_true(x.c == 2048 && x.h == 8);
}

/** Two convolutions that keep the extents. */
static struct shape level(struct walk *walk, struct shape x, int k)
{
    return conv_same(walk, conv_same(walk, x, k, 3, 3), k, 3, 3);
}

/**
 * A transposed convolution that doubles extents and halves channels: cuDNN is
 * asked for the backward-data of a convolution whose output is `x`.
 */
static struct shape up(struct walk *walk, struct shape x)
{
    struct shape in = { 3, x.c / 2, 2 * x.d, 2 * x.h, 2 * x.w };
    struct shape out = conv(walk, in, x.c, 2, 2, 0);

    assert_memory_equal(&out, &x, sizeof x);
    return in;
}

void walk_unet3d(struct walk *walk)
{
    struct shape x = { 3, 1, 96, 96, 96 }, wide, middle;

    wide = level(walk, x, 32);
    middle = level(walk, pool(wide, 2, 2, 0), 64);
    x = level(walk, pool(middle, 2, 2, 0), 128);
    x = level(walk, concat(middle, up(walk, x)), 64);
    x = level(walk, concat(wide, up(walk, x)), 32);
    assert_true(x.c == 32 && x.w == 96);
}
