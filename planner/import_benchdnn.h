/**
 * @file import_benchdnn.h
 * Between the options of benchdnn's lists and its descriptors, the words that
 * say a layer's shape: ic64ih56oc128oh28kh3sh2ph1.
 *
 * Owner, errors, threads: as import_reader.h says.
 */
#ifndef UC_PLANNER_IMPORT_BENCHDNN_H
#define UC_PLANNER_IMPORT_BENCHDNN_H

#include "planner/import_reader.h"

enum { UC_BENCHDNN_BATCHES = 16 };

/** What the options before a descriptor ask for. */
struct uc_benchdnn_settings {
    bool runs[UC_OPERATIONS];
    enum uc_dtype types[UC_DTYPES];
    int type_count;
    int64_t batches[UC_BENCHDNN_BATCHES]; /* 0: the descriptor's */
    int batch_count;
};

/** Add what a descriptor says, as the settings ask for it, or tell what is
 * wrong with it; the text is cut up. */
void uc_benchdnn_add(struct uc_import_reader *reader, char *text,
                     const struct uc_benchdnn_settings *settings);

/** Whether the text begins as descriptors do. */
bool uc_benchdnn_is_descriptor(const char *text);

#endif
