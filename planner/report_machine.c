#include "config.h"

#include "planner/doctor.h"

#include "common/text.h"
#include "planner/report.h"
#include "planner/report_json.h"
#include "planner/table.h"

#include <stdarg.h>
#include <string.h>

enum { CELL = UC_PROBE_PATH + 256 };

/** A row: what, and the rest as by printf(). */
__attribute__((format(printf, 3, 4))) static void add(struct uc_table *table,
                                                      const char *what,
                                                      const char *format, ...)
{
    char text[CELL];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    uc_text_make_line(text);
    uc_table_add(table, what);
    uc_table_add(table, text);
}

/** "0.1.0" from 100. */
static void version_text(int version, char text[UC_REPORT_TEXT])
{
    snprintf(text, UC_REPORT_TEXT, "%d.%d.%d", version / 10000,
             version / 100 % 100, version % 100);
}

/* What is there ------------------------------------------------------------*/

static void add_gpus(struct uc_table *table, const struct uc_probe *p)
{
    char device[UC_REPORT_LINE], cuda[UC_REPORT_TEXT], what[32];

    if (p->no_gpu[0] != '\0')
        add(table, "GPU", "none: %s", p->no_gpu);
    for (int i = 0; i < p->gpu_count && p->no_gpu[0] == '\0'; i++) {
        snprintf(what, sizeof what, "GPU %d", i);
        if (i < UC_PROBE_GPUS) {
            uc_report_device(&p->gpus[i], device);
            add(table, what, "%s", device);
        } else {
            add(table, "GPUs", "%d more", p->gpu_count - i);
            break;
        }
    }
    uc_report_cuda(p->cuda, cuda);
    if (p->cuda > 0)
        add(table, "driver", "%s%sCUDA %s", p->driver,
            p->driver[0] != '\0' ? ", " : "", cuda);
}

static void add_libraries(struct uc_table *table, const struct uc_probe *p)
{
    char version[UC_REPORT_TEXT];

    if (p->no_cudnn[0] != '\0') {
        add(table, "cuDNN", "none: %s", p->no_cudnn);
    } else {
        uc_report_cudnn(p->cudnn, version);
        add(table, "cuDNN", "%s, %s", version, p->cudnn_path);
    }
    if (p->no_library[0] != '\0') {
        add(table, "libucudnn", "none: %s", p->no_library);
    } else {
        version_text(p->library, version);
        add(table, "libucudnn", "%s%s, %s", version,
            p->library == uc_probe_own_version()
                ? ""
                : ", not of this program's version",
            p->library_path);
    }
}

/* Files -------------------------------------------------------------------*/

/** A field of uc_environment_difference() in words. */
static void field_text(const struct uc_environment *env, const char *field,
                       char text[UC_REPORT_LINE])
{
    const struct uc_device *d = &env->device;
    const struct uc_versions *v = &env->versions;

    if (strcmp(field, "device name") == 0)
        snprintf(text, UC_REPORT_LINE, "%s", d->name);
    else if (strcmp(field, "compute capability") == 0)
        snprintf(text, UC_REPORT_LINE, "%d.%d", d->compute_capability / 10,
                 d->compute_capability % 10);
    else if (strcmp(field, "multiprocessors") == 0)
        snprintf(text, UC_REPORT_LINE, "%d", d->multiprocessors);
    else if (strcmp(field, "memory") == 0)
        snprintf(text, UC_REPORT_LINE, "%lld bytes",
                 (long long)d->memory_bytes);
    else if (strcmp(field, "cudnn version") == 0)
        uc_report_cudnn(v->cudnn, text);
    else if (strcmp(field, "cuda version") == 0)
        uc_report_cuda(v->cuda, text);
    else
        snprintf(text, UC_REPORT_LINE, "%s",
                 v->driver[0] != '\0' ? v->driver : "unknown");
}

static void add_match(struct uc_table *table, const struct uc_doctor_machine *m,
                      size_t file, size_t match, const char *what)
{
    const struct uc_doctor_match *there = &m->files[file].matches[match];
    char a[UC_REPORT_LINE], b[UC_REPORT_LINE];
    const char *why;

    if (m->no_use.status != UC_OK) {
        uc_report_device(&there->environment.device, a);
        uc_report_versions(&there->environment.versions, b);
        add(table, what, "%s: of %s, %s", there->what, a, b);
    } else if (uc_doctor_is_for(m, file, match, &why)) {
        add(table, what, "%s: for GPU %d", there->what, m->device);
    } else {
        field_text(&there->environment, why, a);
        field_text(&m->here, why, b);
        add(table, what, "%s: not for GPU %d, differs in %s: %s, here %s",
            there->what, m->device, why, a, b);
    }
}

static void add_file(struct uc_table *table, const struct uc_doctor_machine *m,
                     size_t index)
{
    const struct uc_doctor_file *file = &m->files[index];
    char what[256];

    snprintf(what, sizeof what, "%s %.200s", file->plan ? "plan" : "profile",
             file->name);
    if (file->fault.status != UC_OK)
        add(table, what, "%s", file->fault.text);
    else if (file->count == 0)
        add(table, what, "empty");
    for (size_t i = 0; i < file->count && file->fault.status == UC_OK; i++)
        add_match(table, m, index, i, i == 0 ? what : "");
}

static void add_data(struct uc_table *table, const struct uc_doctor_machine *m)
{
    if (m->data_fault.status != UC_OK)
        add(table, "data", "%s", m->data_fault.text);
    else
        add(table, "data", "%s: %zu network%s, %zu profile%s", m->data,
            m->networks, m->networks == 1 ? "" : "s", m->shipped,
            m->shipped == 1 ? "" : "s");
    for (size_t i = 0; i < m->file_count; i++)
        add_file(table, m, i);
}

/* What can be done ---------------------------------------------------------*/

static void add_abilities(struct uc_table *table,
                          const struct uc_doctor_machine *m)
{
    if (m->data_fault.status == UC_OK && m->shipped > 0)
        add(table, "plan", "yes");
    else
        add(table, "plan", "only networks and profiles of your own");
    if (m->no_use.status == UC_OK)
        add(table, "bench, verify", "yes, on GPU %d", m->device);
    else
        add(table, "bench, verify", "no: %s", m->no_use.text);
    if (m->probe.no_library[0] != '\0')
        add(table, "run, record", "no: %s", m->probe.no_library);
    else if (m->no_use.status != UC_OK)
        add(table, "run, record", "no GPU to run on");
    else
        add(table, "run, record", "yes");
}

enum uc_status uc_report_machine(FILE *out,
                                 const struct uc_doctor_machine *machine,
                                 struct uc_error *err)
{
    struct uc_table table;
    enum uc_status status;

    uc_table_init(&table, "ll");
    add(&table, "ucudnn-plan", "%s", PACKAGE_VERSION);
    add_gpus(&table, &machine->probe);
    add_libraries(&table, &machine->probe);
    add_data(&table, machine);
    add_abilities(&table, machine);
    status = uc_table_print(&table, out, err);
    uc_table_free(&table);
    return status;
}

/* JSON --------------------------------------------------------------------*/

static json_t *gpus(const struct uc_probe *p)
{
    json_t *list = json_array();

    for (int i = 0; i < p->gpu_count && i < UC_PROBE_GPUS && list != NULL; i++)
        if (json_array_append_new(list, uc_json_device(&p->gpus[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *match_json(const struct uc_doctor_machine *m, size_t file,
                          size_t index)
{
    const struct uc_doctor_match *match = &m->files[file].matches[index];
    const char *why = NULL;
    bool known = m->no_use.status == UC_OK;
    bool valid = known && uc_doctor_is_for(m, file, index, &why);

    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "of",
                     uc_json_text(match->what), "device",
                     uc_json_device(&match->environment.device), "versions",
                     uc_json_versions(&match->environment.versions), "valid",
                     known ? json_boolean(valid) : json_null(), "differs_in",
                     uc_json_text(why));
}

static json_t *file_json(const struct uc_doctor_machine *m, size_t index)
{
    const struct uc_doctor_file *file = &m->files[index];
    json_t *list = json_array();

    for (size_t i = 0; i < file->count && list != NULL; i++)
        if (json_array_append_new(list, match_json(m, index, i)) != 0) {
            json_decref(list);
            list = NULL;
        }
    return json_pack(
        "{s:s, s:o, s:b, s:o, s:o}", "kind", file->plan ? "plan" : "profile",
        "name", uc_json_text(file->name), "ships", index < m->shipped, "fault",
        uc_json_text(file->fault.status == UC_OK ? NULL : file->fault.text),
        "contents", list);
}

static json_t *files_json(const struct uc_doctor_machine *m)
{
    json_t *list = json_array();

    for (size_t i = 0; i < m->file_count && list != NULL; i++)
        if (json_array_append_new(list, file_json(m, i)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *libraries_json(const struct uc_probe *p)
{
    char library[UC_REPORT_TEXT] = "";

    if (p->no_library[0] == '\0')
        version_text(p->library, library);
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "cudnn",
        p->no_cudnn[0] == '\0' ? json_integer(p->cudnn) : json_null(),
        "cudnn_path", uc_json_text(p->cudnn_path), "cudnn_fault",
        uc_json_text(p->no_cudnn), "libucudnn", uc_json_text(library),
        "libucudnn_path", uc_json_text(p->library_path), "libucudnn_matches",
        p->no_library[0] == '\0' && p->library == uc_probe_own_version(),
        "libucudnn_fault", uc_json_text(p->no_library));
}

enum uc_status uc_report_machine_json(FILE *out,
                                      const struct uc_doctor_machine *machine,
                                      struct uc_error *err)
{
    const struct uc_probe *p = &machine->probe;
    bool usable = machine->no_use.status == UC_OK;
    json_t *value = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:{s:i, s:b, s:o}, s:{s:o, s:i, s:o}, "
        "s:o}",
        "version", PACKAGE_VERSION, "gpus", gpus(p), "gpu_fault",
        uc_json_text(p->no_gpu), "cuda",
        p->cuda > 0 ? json_integer(p->cuda) : json_null(), "driver",
        uc_json_text(p->driver), "libraries", libraries_json(p), "device",
        "index", machine->device, "usable", usable, "fault",
        uc_json_text(usable ? NULL : machine->no_use.text), "data", "folder",
        uc_json_text(machine->data), "networks", (int)machine->networks,
        "fault",
        uc_json_text(machine->data_fault.status == UC_OK
                         ? NULL
                         : machine->data_fault.text),
        "files", files_json(machine));

    return uc_json_print(out, value, err);
}
