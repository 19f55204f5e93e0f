/**
 * @file network_walks.h
 * The architectures of the shipped networks as their papers draw them:
 * convolutions and poolings that pass on a shape, which starts as an image.
 * Nothing here knows of the files or of the code that reads them.
 */
#ifndef UC_TESTS_NETWORK_WALKS_H
#define UC_TESTS_NETWORK_WALKS_H

#include <stdbool.h>

/** What passes from layer to layer; rank 2 leaves d at 1. */
struct shape {
    int rank, c, d, h, w;
};

/** A window: filter, stride and padding by direction. */
struct window {
    int fh, fw, stride, ph, pw;
};

struct seen {
    struct shape in;
    int k, groups;
    struct window window;
    bool first; /* its input is the data: no gradient of it is needed */
};

enum { MAX_SEEN = 128 };

struct walk {
    struct seen seen[MAX_SEEN];
    int count;
};

/** Positions of a filter on a padded extent, counted. */
int slide(int extent, int filter, int stride, int pad);

void walk_alexnet(struct walk *walk);
void walk_alexnet_grouped(struct walk *walk);
void walk_vgg16(struct walk *walk);
void walk_resnet18(struct walk *walk);
void walk_resnet50(struct walk *walk);
void walk_densenet(struct walk *walk, int growth);
void walk_densenet40(struct walk *walk);
void walk_inception_v3(struct walk *walk);
void walk_mobilenet_v2(struct walk *walk);
void walk_unet3d(struct walk *walk);

#endif
