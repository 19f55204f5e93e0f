/**
 * @file settings.h
 * Settings from the environment.
 *
 *   UCUDNN_PLAN=FILE       plan to follow
 *   UCUDNN_MATCH=exact|device|any
 *                          which plans this device may use: those of the same
 *                          GPU and cuDNN version, of the same GPU, or all
 *   UCUDNN_LOG=LEVEL       off, error, warning, info, debug
 *   UCUDNN_STATS=1|FILE    summary at exit, on stderr or into a file
 *   UCUDNN_RECORD=FILE     write the program's convolutions as a network
 *   UCUDNN_DISABLE=1       do nothing at all
 *   UCUDNN_DOCTOR=FILE     counters that are shared (sight.h reads it)
 *   UCUDNN_RECORD_WITNESS=FILE
 *                          emptied when a description cannot be written
 *                          (record.h reads it)
 *
 * Owner:   strings are copies and live as long as the process.
 * Errors:  a value that means nothing is told once and ignored.
 * Threads: read once, then constant.
 */
#ifndef UC_RUNTIME_SETTINGS_H
#define UC_RUNTIME_SETTINGS_H

#include "common/log.h"

#include <stdbool.h>

enum uc_match { UC_MATCH_EXACT, UC_MATCH_DEVICE, UC_MATCH_ANY };

struct uc_settings {
    bool disable;
    const char *plan, *record, *stats; /**< NULL: not set */
    enum uc_match match;
    enum uc_log_level log;
};

const struct uc_settings *uc_settings_get(void);

#endif
