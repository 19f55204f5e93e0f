#include "config.h"

#include "planner/agenda_impl.h"
#include "planner/tune.h"

#include <string.h>

/** The next larger size with measured engines at this beta case; 0: none. */
static int64_t size_above(const struct uc_agenda *agenda, int beta)
{
    int64_t size = uc_agenda_size(agenda)->micro_batch, above = 0;

    for (size_t i = 0; i < agenda->row_count; i++) {
        const struct uc_measurement *row = &agenda->rows[i];

        if (row->kernel.api == UC_API_GRAPH && row->outcome == UC_MEASURED &&
            row->accumulate == (beta == 1) && row->micro_batch > size &&
            (above == 0 || row->micro_batch < above))
            above = row->micro_batch;
    }
    return above;
}

/** Kernels that are good enough and were not tuned yet: at the size in work,
    and in the first round also those at the size above. */
static enum uc_status add_to_tune(struct uc_agenda *agenda, int beta,
                                  struct uc_error *err)
{
    int64_t size = uc_agenda_size(agenda)->micro_batch;
    int64_t above = agenda->round == 1 ? size_above(agenda, beta) : 0;
    enum uc_status status = UC_OK;

    for (size_t i = 0; i < agenda->row_count && status == UC_OK; i++) {
        const struct uc_measurement *row = &agenda->rows[i];
        const struct uc_work_kernel kernel = { row->kernel, beta == 1,
                                               row->notes,
                                               row->workspace_bytes };

        if (row->accumulate == (beta == 1) &&
            (row->micro_batch == size || row->micro_batch == above) &&
            uc_work_admits(&agenda->of->problem, agenda->options, row->notes) &&
            !uc_agenda_lists(agenda->tuned, agenda->tuned_count, &row->kernel,
                             beta == 1) &&
            uc_tune_wants(agenda->rows, agenda->row_count, i))
            status = uc_agenda_append(&agenda->tuned, &agenda->tuned_count,
                                      &kernel, err);
    }
    return status;
}

enum uc_status uc_agenda_begin_round(struct uc_agenda *agenda, bool *begun,
                                     struct uc_error *err)
{
    enum uc_status status = UC_OK;

    *begun = false;
    if (agenda->round == UC_TUNE_ROUNDS)
        return UC_OK;
    agenda->round++;
    for (int beta = 0; beta < 2 && status == UC_OK; beta++) {
        size_t from = agenda->tuned_count;

        if (!agenda->to_tune[beta])
            continue;
        status = add_to_tune(agenda, beta, err);
        agenda->to_search[beta] = agenda->tuned_count > from;
        agenda->tune_from[beta] = from;
        agenda->tune_to[beta] = agenda->tuned_count;
        *begun = *begun || agenda->to_search[beta];
    }
    if (*begun)
        agenda->state = UC_AGENDA_SEARCHING;
    return status;
}

void uc_agenda_set_likes(const struct uc_agenda *agenda, int beta,
                         struct uc_work *work)
{
    size_t from = agenda->tune_from[beta];
    size_t count = agenda->tune_to[beta] - from;

    if (agenda->round == 0)
        return;
    work->kernel_count = count < UC_WORK_KERNELS ? count : UC_WORK_KERNELS;
    memcpy(work->kernels, agenda->tuned + from,
           work->kernel_count * sizeof *work->kernels);
}
