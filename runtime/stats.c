#include "config.h"

#include "runtime/stats.h"

#include "runtime/settings.h"

bool uc_stats_on(void)
{
    const struct uc_settings *settings = uc_settings_get();

    return settings->stats != NULL || settings->log >= UC_LOG_INFO;
}

void uc_stats_missed(const struct uc_table *table,
                     const struct uc_problem *problem, int64_t batch,
                     enum uc_miss miss, int64_t detail, const char *why)
{
    (void)table, (void)problem, (void)batch, (void)miss, (void)detail;
    (void)why;
}

void uc_stats_write(const struct uc_table *table)
{
    (void)table;
}
