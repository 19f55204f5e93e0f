#include "config.h"

#include "runtime/table.h"

#include "runtime/ready.h"

#include <stdlib.h>
#include <string.h>

struct uc_table {
    struct uc_plan *plans;
    size_t plan_count;
    struct uc_entry *entries;
    size_t entry_count;
    struct uc_entry **buckets; /**< open addressing; a power of two */
    size_t mask;
};

/** Eight bytes at a time: every call of the program hashes once. Problems
    are filled with zeros where they have padding (uc_caller_problem()). */
static uint64_t hash(const struct uc_problem *problem, int64_t batch)
{
    uint64_t words[sizeof *problem / 8], h = (uint64_t)batch;

    _Static_assert(sizeof *problem % 8 == 0, "a problem is whole words");
    memcpy(words, problem, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        h = (h ^ words[i]) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 32;
}

static struct uc_entry **slot(const struct uc_table *table,
                              const struct uc_problem *problem, int64_t batch)
{
    size_t i = hash(problem, batch) & table->mask;

    while (table->buckets[i] != NULL &&
           (table->buckets[i]->batch != batch ||
            memcmp(&table->buckets[i]->key, problem, sizeof *problem) != 0))
        i = (i + 1) & table->mask;
    return &table->buckets[i];
}

/** Later plans come first in their chain. */
static void insert(struct uc_table *table, struct uc_entry *entry)
{
    struct uc_entry **place = slot(table, &entry->key, entry->batch);

    entry->next_copy = *place;
    *place = entry;
}

static void add_entry(struct uc_table *table, const struct uc_plan *plan,
                      const struct uc_plan_operation *operation)
{
    struct uc_entry *entry = &table->entries[table->entry_count];

    memset(&entry->key, 0, sizeof entry->key);
    entry->key = operation->problem;
    uc_problem_canonical(&entry->key);
    entry->plan = plan;
    entry->operation = operation;
    entry->batch = operation->batch;
    for (const struct uc_entry *e = *slot(table, &entry->key, entry->batch);
         e != NULL; e = e->next_copy)
        if (e->plan == plan)
            return; /* another layer with the same operation */
    table->entry_count++;
    insert(table, entry);
}

static enum uc_status build(struct uc_table *table, struct uc_error *err)
{
    size_t operations = 0, buckets = 64;

    for (size_t i = 0; i < table->plan_count; i++)
        operations += table->plans[i].operation_count;
    while (buckets < 4 * operations)
        buckets *= 2;
    table->entries = calloc(operations + 1, sizeof *table->entries);
    table->buckets = calloc(buckets, sizeof(struct uc_entry *));
    table->mask = buckets - 1;
    if (table->entries == NULL || table->buckets == NULL)
        return uc_no_memory(err);
    for (size_t i = 0; i < table->plan_count; i++)
        for (size_t j = 0; j < table->plans[i].operation_count; j++)
            add_entry(table, &table->plans[i], &table->plans[i].operations[j]);
    return UC_OK;
}

enum uc_status uc_table_open(const char *path, struct uc_table **out,
                             struct uc_error *err)
{
    struct uc_table *table = calloc(1, sizeof *table);
    enum uc_status status;

    if (table == NULL)
        return uc_no_memory(err);
    status = uc_plans_read(path, &table->plans, &table->plan_count, err);
    if (status == UC_OK)
        status = build(table, err);
    if (status != UC_OK) {
        uc_table_free(table);
        return status;
    }
    *out = table;
    return UC_OK;
}

void uc_table_free(struct uc_table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->entry_count; i++)
        uc_ready_free(table->entries[i].ready);
    free(table->entries);
    free(table->buckets);
    uc_plans_free(table->plans, table->plan_count);
    free(table);
}

const struct uc_plan *uc_table_plans(const struct uc_table *table,
                                     size_t *count)
{
    *count = table->plan_count;
    return table->plans;
}

struct uc_entry *uc_table_entries(const struct uc_table *table, size_t *count)
{
    *count = table->entry_count;
    return table->entries;
}

struct uc_entry *uc_table_find(const struct uc_table *table,
                               const struct uc_problem *problem, int64_t batch)
{
    return *slot(table, problem, batch);
}

/* The nearest entry ------------------------------------------------------*/

/** Fields in the order in which a difference is worth telling; the entry
    with the first difference furthest down is the nearest. */
static int first_difference(const struct uc_problem *a,
                            const struct uc_problem *b, bool same_batch)
{
#define DIFFERS(field) (memcmp(&a->field, &b->field, sizeof a->field) != 0)
    const bool differs[] = {
        DIFFERS(filter),
        DIFFERS(c) || DIFFERS(k),
        DIFFERS(in),
        DIFFERS(groups),
        DIFFERS(stride),
        DIFFERS(pad),
        DIFFERS(dilation),
        DIFFERS(mode),
        DIFFERS(x_type) || DIFFERS(w_type) || DIFFERS(y_type),
        DIFFERS(compute_type),
        DIFFERS(math),
        DIFFERS(x) || DIFFERS(w) || DIFFERS(y),
        !same_batch,
    };
#undef DIFFERS
    int i = 0;

    while (i < (int)(sizeof differs / sizeof *differs) && !differs[i])
        i++;
    return i;
}

const char *uc_table_nearest(const struct uc_table *table,
                             const struct uc_problem *problem, int64_t batch)
{
    static const char *const fields[] = {
        "filter",  "channels", "input extents", "groups",    "stride",
        "padding", "dilation", "mode",          "data type", "compute type",
        "math",    "layout",   "batch",         "nothing",
    };
    int nearest = -1;

    for (size_t i = 0; i < table->entry_count; i++) {
        const struct uc_entry *e = &table->entries[i];
        int at;

        if (e->key.operation != problem->operation ||
            e->key.spatial != problem->spatial)
            continue;
        at = first_difference(&e->key, problem, e->batch == batch);
        if (at > nearest)
            nearest = at;
    }
    return nearest < 0 ? "operation" : fields[nearest];
}
