#include "config.h"

#include "planner/doctor.h"

#include "common/array.h"
#include "common/bytes.h"
#include "db/plan.h"
#include "db/profile.h"
#include "planner/data.h"
#include "planner/verify.h"

#include <stdlib.h>
#include <string.h>

/* Files -------------------------------------------------------------------*/

/** The next match, its text empty; NULL: no memory. */
static struct uc_doctor_match *add_match(struct uc_doctor_file *file,
                                         const struct uc_environment *env)
{
    void *list = file->matches;
    struct uc_doctor_match *match =
        uc_array_append(&list, &file->count, sizeof *match);

    file->matches = list;
    if (match != NULL)
        match->environment = *env;
    return match;
}

static enum uc_status read_profile(struct uc_doctor_file *file,
                                   const char *path, struct uc_error *err)
{
    struct uc_profile_environment *list = NULL;
    struct uc_profile *profile = NULL;
    size_t count = 0;
    enum uc_status status =
        uc_profile_open(path, UC_PROFILE_READ, &profile, err);

    if (status == UC_OK)
        status = uc_profile_environments(profile, &list, &count, err);
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        struct uc_doctor_match *m = add_match(file, &list[i].environment);

        if (m == NULL)
            status = uc_no_memory(err);
        else
            snprintf(m->what, sizeof m->what, "environment %lld",
                     (long long)list[i].id);
    }
    free(list);
    uc_profile_close(profile);
    return status;
}

static enum uc_status read_plans(struct uc_doctor_file *file, const char *path,
                                 struct uc_error *err)
{
    struct uc_plan *plans = NULL;
    size_t count = 0;
    enum uc_status status = uc_plans_read(path, &plans, &count, err);

    for (size_t i = 0; i < count && status == UC_OK; i++) {
        struct uc_doctor_match *m = add_match(file, &plans[i].environment);
        char bytes[UC_BYTES_TEXT];

        if (m == NULL) {
            status = uc_no_memory(err);
            break;
        }
        uc_bytes_print(plans[i].limit_bytes, bytes);
        snprintf(m->what, sizeof m->what, "%s, %s %s", plans[i].network,
                 plans[i].mode == UC_PLAN_WR ? "wr" : "wd", bytes);
    }
    uc_plans_free(plans, count);
    return status;
}

/** A file that is not there or cannot be read is a finding. */
static enum uc_status add_file(struct uc_doctor_machine *m, bool plan,
                               const char *name, struct uc_error *err)
{
    void *list = m->files;
    struct uc_doctor_file *file =
        uc_array_append(&list, &m->file_count, sizeof *file);
    char path[UC_PROBE_PATH];
    enum uc_status status;

    m->files = list;
    if (file == NULL)
        return uc_no_memory(err);
    file->plan = plan;
    file->name = strdup(name);
    if (file->name == NULL)
        return uc_no_memory(err);
    if (plan) {
        status = read_plans(file, name, &file->fault);
    } else {
        status = uc_data_find(UC_DATA_PROFILE, name, path, sizeof path,
                              &file->fault);
        if (status == UC_OK)
            status = read_profile(file, path, &file->fault);
    }
    file->fault.status = status;
    return UC_OK;
}

static enum uc_status look_at_data(struct uc_doctor_machine *m,
                                   struct uc_error *err)
{
    struct uc_error *fault = &m->data_fault;
    char **networks = NULL, **profiles = NULL;
    size_t count = 0;
    enum uc_status status = uc_data_file("", m->data, sizeof m->data, fault);
    size_t length = strlen(m->data);

    if (length > 1 && m->data[length - 1] == '/')
        m->data[length - 1] = '\0';
    if (status == UC_OK)
        status = uc_data_list(UC_DATA_NETWORK, &networks, &m->networks, fault);
    if (status == UC_OK)
        status = uc_data_list(UC_DATA_PROFILE, &profiles, &count, fault);
    fault->status = status;
    status = UC_OK;
    for (size_t i = 0; i < count && status == UC_OK; i++)
        status = add_file(m, false, profiles[i], err);
    m->shipped = m->file_count;
    uc_data_free(networks, m->networks);
    uc_data_free(profiles, count);
    return status;
}

/** Add it, or find it among those that ship. */
static enum uc_status ask_for(struct uc_doctor_machine *m, bool plan,
                              const char *name, struct uc_error *err)
{
    enum uc_status status;
    size_t i = 0;

    while (i < m->file_count &&
           (m->files[i].plan != plan || strcmp(m->files[i].name, name) != 0))
        i++;
    status = i < m->file_count ? UC_OK : add_file(m, plan, name, err);
    if (status == UC_OK)
        m->files[i].asked = true;
    return status;
}

/* The machine -------------------------------------------------------------*/

enum uc_status uc_doctor_machine(struct uc_doctor_machine *machine, int device,
                                 const char *profile, const char *plan,
                                 struct uc_error *err)
{
    const struct uc_verify_options options = { .device = device };
    enum uc_status status = uc_probe(&machine->probe, err);

    if (status != UC_OK)
        return status;
    machine->device = device;
    machine->no_use.status =
        uc_verify_environment(&options, &machine->here, &machine->no_use);
    status = look_at_data(machine, err);
    if (status == UC_OK && profile != NULL)
        status = ask_for(machine, false, profile, err);
    if (status == UC_OK && plan != NULL)
        status = ask_for(machine, true, plan, err);
    return status;
}

void uc_doctor_machine_free(struct uc_doctor_machine *machine)
{
    for (size_t i = 0; i < machine->file_count; i++) {
        free(machine->files[i].name);
        free(machine->files[i].matches);
    }
    free(machine->files);
    machine->files = NULL;
    machine->file_count = 0;
}

enum uc_status uc_doctor_machine_fault(const struct uc_doctor_machine *machine,
                                       struct uc_error *err)
{
    if (machine->data_fault.status != UC_OK) {
        *err = machine->data_fault;
        return err->status;
    }
    for (size_t i = 0; i < machine->file_count; i++)
        if (machine->files[i].fault.status != UC_OK) {
            *err = machine->files[i].fault;
            return err->status;
        }
    return UC_OK;
}

bool uc_doctor_is_for(const struct uc_doctor_machine *machine, size_t file,
                      size_t match, const char **why)
{
    const struct uc_environment *there =
        &machine->files[file].matches[match].environment;

    *why = machine->files[file].plan
               ? uc_followed_difference(there, &machine->here)
               : uc_environment_difference(there, &machine->here);
    return *why == NULL;
}
