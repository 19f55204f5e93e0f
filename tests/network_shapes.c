/*
 * The shipped networks against the architectures they stand for.
 *
 * A walk through an architecture gives every layer's input; the files must
 * hold exactly those layers, as often. Totals that others have published must
 * come out as well: they know nothing of these walks.
 */
#include "config.h"

#include "planner/data.h"
#include "planner/network.h"
#include "tests/network_walks.h"
#include "tests/unit.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/**
 * Published: multiply-adds of one image, and weights in all. `macs_digit` is
 * one unit in the last published digit; `linear_macs` are those of fully
 * connected layers. Weights outside convolutions are `other_weights`, and
 * `per_output` for each output channel (2: batch normalisation, 1: bias).
 *
 * torchvision: "GFLOPS" (multiply-adds) and "num_params" in the weights'
 * tables of its documentation. Sze: V. Sze et al., Efficient Processing of
 * Deep Neural Networks, 2017, table II, convolutions alone.
 */
static const struct {
    const char *name;
    int64_t batch;
    void (*walk)(struct walk *walk);
    double macs, macs_digit, linear_macs;
    double weights, other_weights;
    int per_output;
} networks[] = {
    { "alexnet", 256, walk_alexnet, /* torchvision */
      0.71e9, 0.01e9, 9216. * 4096 + 4096. * 4096 + 4096. * 1000, /* */
      61100840, 9216. * 4096 + 4096. * 4096 + 4096. * 1000 + 9192, 1 },
    { "alexnet-grouped", 256, walk_alexnet_grouped, /* Sze: 666M, 2.3M */
      666e6, 1e6, 0, 0, 0, 0 },
    { "vgg16", 64, walk_vgg16, /* torchvision */
      15.47e9, 0.01e9, 25088. * 4096 + 4096. * 4096 + 4096. * 1000, 138357544,
      25088. * 4096 + 4096. * 4096 + 4096. * 1000 + 9192, 1 },
    { "resnet18", 128, walk_resnet18, /* torchvision */
      1.81e9, 0.01e9, 512. * 1000, 11689512, 513. * 1000, 2 },
    { "resnet50", 64, walk_resnet50, /* torchvision */
      4.09e9, 0.01e9, 2048. * 1000, 25557032, 2049. * 1000, 2 },
    { "densenet40", 256, walk_densenet40, 0, 0, 0, 0, 0, 0 },
    { "inception-v3", 64, walk_inception_v3, /* torchvision; its weights */
      5.71e9, 0.01e9, 2048. * 1000, /* hold the auxiliary classifier too */
      27161264,
      2049. * 1000 + (768. * 128 + 256) + (128. * 768 * 25 + 1536) +
          769. * 1000,
      2 },
    { "mobilenet-v2", 128, walk_mobilenet_v2, /* torchvision */
      0.30e9, 0.01e9, 1280. * 1000, 3504872, 1281. * 1000, 2 },
    { "unet3d", 4, walk_unet3d, 0, 0, 0, 0, 0, 0 },
};

static struct uc_network read_network(const char *name)
{
    struct uc_network network = { .layers = NULL };
    struct uc_error err = { .text = "" };
    char path[PATH_MAX];

    if (uc_data_find(UC_DATA_NETWORK, name, path, sizeof path, &err) != UC_OK ||
        uc_network_read(path, &UC_NETWORK_AS_IS, &network, &err) != UC_OK)
        fail_msg("%s", err.text);
    return network;
}

static bool same_layer(const struct uc_problem *p, const struct seen *seen)
{
    const struct shape *in = &seen->in;
    int extents[] = { in->d, in->h, in->w };
    int filter[] = { seen->window.fh, seen->window.fh, seen->window.fw };
    int pad[] = { seen->window.ph, seen->window.ph, seen->window.pw };
    int skip = UC_MAX_SPATIAL - in->rank;

    if (p->spatial != in->rank || p->c != in->c || p->k != seen->k ||
        p->groups != seen->groups)
        return false;
    for (int i = 0; i < p->spatial; i++)
        if (p->in[i] != extents[skip + i] || p->filter[i] != filter[skip + i] ||
            p->pad[i] != pad[skip + i] || p->stride[i] != seen->window.stride ||
            p->dilation[i] != 1)
            return false;
    return true;
}

/** Take a walked layer off the file's, once. */
static void take(const char *name, struct uc_network *network,
                 const struct seen *seen)
{
    for (size_t i = 0; i < network->layer_count; i++) {
        struct uc_layer *layer = &network->layers[i];

        if (layer->repeat > 0 && same_layer(&layer->problem, seen)) {
            layer->repeat--;
            assert_true(layer->runs[UC_FORWARD]);
            assert_true(layer->runs[UC_BACKWARD_FILTER]);
            assert_int_equal(layer->runs[UC_BACKWARD_DATA], !seen->first);
            return;
        }
    }
    fail_msg("%s lacks c%d k%d in %dx%dx%d filter %dx%d stride %d groups %d",
             name, seen->in.c, seen->k, seen->in.d, seen->in.h, seen->in.w,
             seen->window.fh, seen->window.fw, seen->window.stride,
             seen->groups);
}

static void layers_are_those_of_the_architecture(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(networks); i++) {
        struct uc_network network = read_network(networks[i].name);
        struct walk walk = { .count = 0 };

        networks[i].walk(&walk);
        for (int j = 0; j < walk.count; j++)
            take(networks[i].name, &network, &walk.seen[j]);
        for (size_t j = 0; j < network.layer_count; j++)
            if (network.layers[j].repeat != 0)
                fail_msg("%s: %s is none of the architecture's, or too often",
                         networks[i].name, network.layers[j].name);
        uc_network_free(&network);
    }
}

static double weights_of(const struct uc_network *network, int per_output)
{
    double weights = 0;

    for (size_t i = 0; i < network->layer_count; i++) {
        const struct uc_layer *layer = &network->layers[i];
        const struct uc_problem *p = &layer->problem;
        double filter = (double)p->c / (double)p->groups;

        for (int j = 0; j < p->spatial; j++)
            filter *= (double)p->filter[j];
        weights += (double)(layer->repeat * p->k) * (filter + per_output);
    }
    return weights;
}

/** With `slide`, not with the code under test. */
static double macs_of(const struct uc_network *network)
{
    double macs = 0;

    for (size_t i = 0; i < network->layer_count; i++) {
        const struct uc_layer *layer = &network->layers[i];
        const struct uc_problem *p = &layer->problem;
        double m =
            (double)(layer->repeat * p->k) * (double)p->c / (double)p->groups;

        for (int j = 0; j < p->spatial; j++)
            m *=
                (double)p->filter[j] * slide((int)p->in[j], (int)p->filter[j],
                                             (int)p->stride[j], (int)p->pad[j]);
        macs += m;
    }
    return macs;
}

static void totals_are_the_published_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(networks); i++) {
        struct uc_network network = read_network(networks[i].name);
        double macs = macs_of(&network) + networks[i].linear_macs;
        double weights = weights_of(&network, networks[i].per_output) +
                         networks[i].other_weights;

        /* Published digits are rounded, or cut. */
        if (networks[i].macs > 0 &&
            fabs(macs - networks[i].macs) > networks[i].macs_digit)
            fail_msg("%s: %g multiply-adds", networks[i].name, macs);
        if (networks[i].weights > 0 &&
            fabs(weights - networks[i].weights) > 0.5)
            fail_msg("%s: %.0f weights", networks[i].name, weights);
        uc_network_free(&network);
    }
}

/**
 * DenseNet's paper publishes 1.0M weights for 40 layers of growth 12: the
 * same walk, which growth 40 of the file is checked with above.
 */
static void the_densenet_walk_gives_the_published_size(void **state)
{
    struct walk walk = { .count = 0 };
    double weights = (16 + 36 * 12) * 10 + 10; /* the classifier */

    (void)state;
    walk_densenet(&walk, 12);
    assert_int_equal(walk.count, 39); /* and the classifier makes 40 */
    for (int i = 0; i < walk.count; i++) {
        const struct seen *seen = &walk.seen[i];

        weights +=
            (double)seen->k * seen->in.c * seen->window.fh * seen->window.fw +
            2. * seen->in.c;
    }
    assert_true(fabs(weights - 1.0e6) < 0.05e6);
}

static void headers_are_as_documented(void **state)
{
    char **names;
    size_t count;
    struct uc_error err;

    (void)state;
    assert_int_equal(uc_data_list(UC_DATA_NETWORK, &names, &count, &err),
                     UC_OK);
    assert_int_equal(count, UNIT_COUNT(networks));
    uc_data_free(names, count);
    for (size_t i = 0; i < UNIT_COUNT(networks); i++) {
        struct uc_network network = read_network(networks[i].name);

        assert_string_equal(network.name, networks[i].name);
        assert_int_equal(network.batch, networks[i].batch);
        assert_true(strlen(network.description) > 0);
        assert_true(strlen(network.source) > 0);
        for (size_t j = 0; j < network.layer_count; j++) {
            const struct uc_problem *p = &network.layers[j].problem;

            assert_int_equal(p->x_type, UC_FP32);
            assert_int_equal(p->math, UC_MATH_FMA);
            assert_int_equal(p->x.kind, UC_NCHW);
            assert_int_equal(p->mode, UC_CROSS_CORRELATION);
        }
        uc_network_free(&network);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_those_of_the_architecture),
        cmocka_unit_test(totals_are_the_published_ones),
        cmocka_unit_test(the_densenet_walk_gives_the_published_size),
        cmocka_unit_test(headers_are_as_documented),
    };

    return cmocka_run_group_tests_name("shipped networks", tests, NULL, NULL);
}
