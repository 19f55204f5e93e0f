#include "config.h"

#include "planner/doctor.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    const char *name;
    bool well;
} kinds[] = {
    [UC_SEEN_LEGACY] = { "seen", true },
    [UC_SEEN_FOLLOWED] = { "followed", true },
    [UC_SEEN_NOT_FOLLOWED] = { "not-followed", false },
    [UC_SEEN_EXPLICIT] = { "explicit", true },
    [UC_SEEN_GRAPH] = { "graph-api", false },
    [UC_SEEN_HIDDEN] = { "hidden", false },
    [UC_SEEN_NO_CUDNN] = { "no-cudnn", false },
    [UC_SEEN_NOTHING] = { "nothing", false },
    [UC_SEEN_UNKNOWN] = { "unknown", false },
    [UC_SEEN_NO_PROCESS] = { "not-preloaded", false },
};

const char *uc_seen_name(enum uc_seen seen)
{
    return kinds[seen].name;
}

bool uc_seen_is_well(enum uc_seen seen)
{
    return kinds[seen].well;
}

int uc_doctor_unknown_processes(const struct uc_sight *sight)
{
    int known = 0;

    for (int i = 0; i < UC_SIGHT_PROCESSES; i++)
        known += sight->processes[i].pid != 0 && sight->processes[i].looked;
    return sight->process_count - known;
}

void uc_doctor_unknown_names(const struct uc_sight *sight,
                             char text[UC_DOCTOR_NAMES])
{
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < UC_SIGHT_PROCESSES && used < UC_DOCTOR_NAMES; i++) {
        const struct uc_sight_process *p = &sight->processes[i];

        if (p->pid != 0 && !p->looked)
            used += (size_t)snprintf(text + used, UC_DOCTOR_NAMES - used,
                                     "%s%.*s", used > 0 ? ", " : "",
                                     UC_SIGHT_NAME - 1, p->name);
    }
}

enum uc_seen uc_doctor_judge(const struct uc_doctor_program *program)
{
    const struct uc_sight *s = program->sight;

    if (s->process_count == 0)
        return UC_SEEN_NO_PROCESS;
    if (s->convolutions > 0 && program->plan == NULL)
        return UC_SEEN_LEGACY;
    if (s->convolutions > 0)
        return s->planned > 0 ? UC_SEEN_FOLLOWED : UC_SEEN_NOT_FOLLOWED;
    if (s->explicit_runs > 0)
        return UC_SEEN_EXPLICIT;
    if (s->graphs > 0)
        return UC_SEEN_GRAPH;
    if (s->loaded & (UC_SIGHT_CUDNN | UC_SIGHT_CUDNN_PART))
        return UC_SEEN_HIDDEN;
    if (uc_doctor_unknown_processes(s) > 0)
        return UC_SEEN_UNKNOWN;
    return s->loaded & UC_SIGHT_CUDA ? UC_SEEN_NO_CUDNN : UC_SEEN_NOTHING;
}

/* Words -------------------------------------------------------------------*/

void uc_doctor_count(int64_t count, const char *what,
                     char text[UC_DOCTOR_COUNT])
{
    char digits[32];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRId64, count);
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    snprintf(text + used, UC_DOCTOR_COUNT - used, " %s%s", what,
             count == 1 ? "" : "s");
}

void uc_doctor_say(const struct uc_doctor_program *program,
                   char text[UC_DOCTOR_TEXT])
{
    const struct uc_sight *s = program->sight;
    char calls[UC_DOCTOR_COUNT], graphs[UC_DOCTOR_COUNT];
    char other[UC_DOCTOR_COUNT], names[UC_DOCTOR_NAMES];
    const char *words = NULL;

    uc_doctor_count(s->convolutions, "convolution", calls);
    uc_doctor_count(s->graphs, "graph execution", graphs);
    switch (uc_doctor_judge(program)) {
    case UC_SEEN_LEGACY:
        snprintf(text, UC_DOCTOR_TEXT,
                 "%s through the legacy API: a plan will be followed", calls);
        return;
    case UC_SEEN_FOLLOWED:
        snprintf(text, UC_DOCTOR_TEXT, "%" PRId64 " of %s followed the plan",
                 s->planned, calls);
        return;
    case UC_SEEN_NOT_FOLLOWED:
        snprintf(text, UC_DOCTOR_TEXT,
                 "%s through the legacy API, none followed the plan", calls);
        return;
    case UC_SEEN_EXPLICIT:
        uc_doctor_count(s->explicit_runs, "operation", other);
        snprintf(text, UC_DOCTOR_TEXT,
                 "%s executed through ucudnn.h: the program follows plans "
                 "by itself",
                 other);
        return;
    case UC_SEEN_GRAPH:
        snprintf(text, UC_DOCTOR_TEXT, "%s, no legacy convolution", graphs);
        return;
    case UC_SEEN_UNKNOWN:
        uc_doctor_unknown_names(s, names);
        snprintf(text, UC_DOCTOR_TEXT,
                 "no call was seen, and what was loaded is not known, since "
                 "not all processes ended by exit(): %s",
                 names);
        return;
    case UC_SEEN_HIDDEN:
        words = "cuDNN was loaded, but no call was seen";
        break;
    case UC_SEEN_NO_CUDNN:
        words = "cuDNN was never loaded, though CUDA was";
        break;
    case UC_SEEN_NOTHING:
        words = "cuDNN was never loaded";
        break;
    case UC_SEEN_NO_PROCESS:
        words = "libucudnn was not loaded into the command";
        break;
    }
    snprintf(text, UC_DOCTOR_TEXT, "%s", words);
}

const char *uc_doctor_advice(const struct uc_doctor_program *program)
{
    switch (uc_doctor_judge(program)) {
    case UC_SEEN_LEGACY:
        return program->sight->graphs > 0
                   ? "What runs through the graph API stays as it is. "
                     "\"ucudnn-plan record\" writes the convolutions down to "
                     "be planned."
                   : "\"ucudnn-plan record\" writes them down to be planned.";
    case UC_SEEN_NOT_FOLLOWED:
        return "The reasons are above; \"ucudnn-plan doctor --plan FILE\" says "
               "whether the plan is for this machine, \"ucudnn-plan record\" "
               "what there is to plan.";
    case UC_SEEN_GRAPH:
        return program->torch_told
                   ? "TORCH_CUDNN_V8_API_DISABLED=1 was set, which makes "
                     "PyTorch's convolutions legacy calls: other programs' "
                     "cannot be planned."
                   : "Set TORCH_CUDNN_V8_API_DISABLED=1 if it is PyTorch (run "
                     "and record do), else its convolutions cannot be "
                     "planned.";
    case UC_SEEN_HIDDEN:
        return "The program fetches cuDNN's functions by dlsym (JAX, ONNX "
               "Runtime), links cuDNN statically, or did not come to a "
               "convolution in this run; in the first cases only ucudnn.h "
               "plans it.";
    case UC_SEEN_NO_CUDNN:
        return "The program has no convolutions of cuDNN, links cuDNN "
               "statically, which nothing can stand in front of, or did not "
               "come to them in this run.";
    case UC_SEEN_NOTHING:
        return "The program uses no GPU, or did not come to it in this run; "
               "let it run longer.";
    case UC_SEEN_UNKNOWN:
        return "Let the program end by itself, or with --for be stopped before "
               "it is killed.";
    case UC_SEEN_NO_PROCESS:
        return "It is linked statically, has privileges of its own "
               "(set-user-ID), or starts programs without LD_PRELOAD: start "
               "those by the doctor.";
    case UC_SEEN_FOLLOWED:
    case UC_SEEN_EXPLICIT:
        break;
    }
    return "";
}

/* Reasons -----------------------------------------------------------------*/

/** Add to what is in the list with the same words, or at its end. */
static size_t unite(struct uc_doctor_miss *list, size_t count,
                    const char *reason, int64_t calls)
{
    size_t at = 0;

    if (calls <= 0)
        return count;
    while (at < count && strcmp(list[at].reason, reason) != 0)
        at++;
    if (at == count)
        list[count++] = (struct uc_doctor_miss){ reason, 0 };
    list[at].calls += calls;
    for (; at > 0 && list[at - 1].calls < list[at].calls; at--) {
        struct uc_doctor_miss swap = list[at - 1];

        list[at - 1] = list[at];
        list[at] = swap;
    }
    return count;
}

size_t uc_doctor_misses(const struct uc_sight *sight,
                        struct uc_doctor_miss list[UC_SIGHT_REASONS + 2])
{
    int64_t left = sight->convolutions - sight->planned;
    size_t count = 0;

    for (int i = 0; i < UC_SIGHT_REASONS; i++) {
        const struct uc_sight_reason *r = &sight->reasons[i];

        if (r->state != UC_SIGHT_READY)
            continue;
        count = unite(list, count, r->text, r->calls);
        left -= r->calls;
    }
    count = unite(list, count, "other reasons", sight->other_misses);
    return unite(list, count, "calls that plans do not know",
                 left - sight->other_misses);
}
