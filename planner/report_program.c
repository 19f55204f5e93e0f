#include "config.h"

#include "planner/doctor.h"

#include "common/text.h"
#include "planner/report_json.h"
#include "planner/table.h"

#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>

enum { CELL = UC_SIGHT_PATH + 256 };

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

static void add_command(struct uc_table *table,
                        const struct uc_doctor_program *p, char **words,
                        size_t count)
{
    const char *stopped = p->stopped ? ", stopped as its time was over" : "";
    char text[256] = "";

    for (size_t i = 0, used = 0; i < count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                 i > 0 ? " " : "", words[i]);
    add(table, "command", "%s", text);
    if (WIFSIGNALED(p->ended))
        add(table, "ended", "by signal %d (%s)%s", WTERMSIG(p->ended),
            strsignal(WTERMSIG(p->ended)), stopped);
    else
        add(table, "ended", "with exit status %d%s", WEXITSTATUS(p->ended),
            stopped);
}

static void add_count(struct uc_table *table, const char *what, int64_t count,
                      const char *of)
{
    char text[UC_DOCTOR_COUNT];

    uc_doctor_count(count, of, text);
    add(table, what, "%s", text);
}

static void add_processes(struct uc_table *table, const struct uc_sight *s)
{
    char names[UC_DOCTOR_NAMES];

    uc_doctor_unknown_names(s, names);
    if (uc_doctor_unknown_processes(s) > 0)
        add(table, "processes", "%d, without exit(): %s", s->process_count,
            names);
    else
        add(table, "processes", "%d", s->process_count);
}

static void add_cudnn(struct uc_table *table, const struct uc_sight *s)
{
    const char *how =
        s->loaded & UC_SIGHT_AT_START ? "linked" : "opened at run time";

    if (s->loaded & UC_SIGHT_CUDNN)
        add(table, "cuDNN", "%s, %s",
            s->path_state == UC_SIGHT_READY ? s->cudnn_path : "loaded", how);
    else if (s->loaded & UC_SIGHT_CUDNN_PART)
        add(table, "cuDNN", "parts of it, without libcudnn.so, %s", how);
    else
        add(table, "cuDNN", "%s",
            uc_doctor_unknown_processes(s) > 0 ? "not known to be loaded"
                                               : "not loaded");
}

static void add_plan(struct uc_table *table, const struct uc_doctor_program *p)
{
    struct uc_doctor_miss misses[UC_SIGHT_REASONS + 2];
    size_t count = uc_doctor_misses(p->sight, misses);

    add(table, "plan", "%s", p->plan);
    add_count(table, "followed", p->sight->planned, "call");
    for (size_t i = 0; i < count; i++) {
        char calls[UC_DOCTOR_COUNT];

        uc_doctor_count(misses[i].calls, "call", calls);
        add(table, i == 0 ? "passed through" : "", "%s: %s", calls,
            misses[i].reason);
    }
}

enum uc_status uc_report_program(FILE *out,
                                 const struct uc_doctor_program *program,
                                 char **words, size_t count,
                                 struct uc_error *err)
{
    const struct uc_sight *s = program->sight;
    const char *advice = uc_doctor_advice(program);
    char said[UC_DOCTOR_TEXT];
    struct uc_table table;
    enum uc_status status;

    uc_table_init(&table, "ll");
    add_command(&table, program, words, count);
    add_processes(&table, s);
    add_cudnn(&table, s);
    add_count(&table, "legacy API", s->convolutions, "convolution");
    add_count(&table, "graph API", s->graphs, "execution");
    if (s->explicit_runs > 0)
        add_count(&table, "ucudnn.h", s->explicit_runs, "execution");
    if (program->plan != NULL)
        add_plan(&table, program);
    status = uc_table_print(&table, out, err);
    uc_table_free(&table);
    if (status != UC_OK)
        return status;
    uc_doctor_say(program, said);
    fprintf(out, "\n%s.\n%s%s", said, advice, advice[0] != '\0' ? "\n" : "");
    return UC_OK;
}

/* JSON --------------------------------------------------------------------*/

static json_t *texts(char **words, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count && list != NULL; i++) {
        json_t *word =
            words[i][0] == '\0' ? json_string("") : uc_json_text(words[i]);

        if (json_array_append_new(list, word) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *misses_json(const struct uc_sight *s)
{
    struct uc_doctor_miss misses[UC_SIGHT_REASONS + 2];
    size_t count = uc_doctor_misses(s, misses);
    json_t *list = json_array();

    for (size_t i = 0; i < count && list != NULL; i++)
        if (json_array_append_new(
                list,
                json_pack("{s:I, s:o}", "calls", (json_int_t)misses[i].calls,
                          "reason", uc_json_text(misses[i].reason))) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *plan_json(const struct uc_doctor_program *p)
{
    if (p->plan == NULL)
        return json_null();
    return json_pack("{s:o, s:I, s:o}", "file", uc_json_text(p->plan),
                     "followed", (json_int_t)p->sight->planned,
                     "passed_through", misses_json(p->sight));
}

static json_t *cudnn_json(const struct uc_sight *s)
{
    bool there = s->loaded & (UC_SIGHT_CUDNN | UC_SIGHT_CUDNN_PART);

    return json_pack(
        "{s:b, s:b, s:o}", "loaded", there, "linked",
        (s->loaded & UC_SIGHT_AT_START) != 0, "path",
        uc_json_text(s->path_state == UC_SIGHT_READY ? s->cudnn_path : NULL));
}

enum uc_status uc_report_program_json(FILE *out,
                                      const struct uc_doctor_program *program,
                                      char **words, size_t count,
                                      struct uc_error *err)
{
    const struct uc_sight *s = program->sight;
    bool killed = WIFSIGNALED(program->ended);
    char said[UC_DOCTOR_TEXT];
    json_t *value;

    uc_doctor_say(program, said);
    value = json_pack(
        "{s:o, s:o, s:o, s:b, s:i, s:i, s:o, s:b, s:I, s:I, s:I, s:o, s:s, "
        "s:o, s:s}",
        "command", texts(words, count), "exit_status",
        killed ? json_null() : json_integer(WEXITSTATUS(program->ended)),
        "signal", killed ? json_integer(WTERMSIG(program->ended)) : json_null(),
        "stopped", program->stopped, "processes", (int)s->process_count,
        "processes_without_exit", uc_doctor_unknown_processes(s), "cudnn",
        cudnn_json(s), "cuda_loaded", (s->loaded & UC_SIGHT_CUDA) != 0,
        "legacy_convolutions", (json_int_t)s->convolutions, "graph_executions",
        (json_int_t)s->graphs, "explicit_executions",
        (json_int_t)s->explicit_runs, "plan", plan_json(program), "verdict",
        uc_seen_name(uc_doctor_judge(program)), "found", uc_json_text(said),
        "advice", uc_doctor_advice(program));
    return uc_json_print(out, value, err);
}
