/* Engines, configurations, heuristics, plans and packs, right and wrong. */
#include "config.h"

#include "tests/client/backend.h"

static const int64_t one = 1, zero = 0;

static descriptor engine(const char *what, descriptor graph, int64_t index)
{
    descriptor d = backend_fresh(ENGINE);
    cudnnStatus_t status;

    backend_put(d, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
                CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph);
    backend_put(d, CUDNN_ATTR_ENGINE_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                1, &backend_device);
    status = backend_put(d, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1,
                         &index);
    printf("%s: set %d, finalize %d\n", what, (int)status,
           (int)backend.finalize(d));
    return d;
}

static descriptor engines(descriptor graph)
{
    const struct piece pieces[] = {
        { CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
          &graph },
        { CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &one },
    };
    cudnnBackendNumericalNote_t notes[16];
    cudnnBackendBehaviorNote_t behaviour[16];
    descriptor infos[2] = { backend_fresh(KNOB), backend_fresh(KNOB) };
    descriptor open = backend_fresh(GRAPH);
    descriptor d = backend_fresh(ENGINE);
    int64_t count = -1, index = -1;
    int type = -1;

    for (int i = 0; i < 2; i++) {
        d = backend_fresh(ENGINE);
        backend_put_all(d, pieces, 2, i);
        printf("engine without %d: %d\n", pieces[i].name,
               (int)backend.finalize(d));
    }
    backend_tell("an open graph",
                 backend_put(d, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &open));
    engine("engine -1", graph, -1);
    engine("engine 100000", graph, 100000);
    d = engine("engine 1 of an open graph", open, 1);
    backend_tell("index before",
                 backend_ask(d, CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
                             CUDNN_TYPE_INT64, 1, &count, &index));
    d = engine("engine 1", graph, 1);
    backend_tell("index", backend_ask(d, CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
                                      CUDNN_TYPE_INT64, 1, &count, &index));
    printf("  %" PRId64 ": %" PRId64 "\n", count, index);
    backend_tell("set notes", backend_put(d, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                          CUDNN_TYPE_NUMERICAL_NOTE, 1, &zero));
    backend_tell("notes",
                 backend_ask(d, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                             CUDNN_TYPE_NUMERICAL_NOTE, 16, &count, notes));
    printf("  %" PRId64 "\n", count);
    backend_tell("behaviour",
                 backend_ask(d, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                             CUDNN_TYPE_BEHAVIOR_NOTE, 16, &count, behaviour));
    printf("  %" PRId64 "\n", count);
    backend_tell("knobs, none wanted",
                 backend_ask(d, CUDNN_ATTR_ENGINE_KNOB_INFO,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, NULL));
    printf("  %" PRId64 "\n", count);
    backend_tell("knobs",
                 backend_ask(d, CUDNN_ATTR_ENGINE_KNOB_INFO,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, infos));
    printf("  %" PRId64 "\n", count);
    backend_tell("knobs",
                 backend_ask(d, CUDNN_ATTR_ENGINE_KNOB_INFO,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 2, &count, infos));
    printf("  %" PRId64 "\n", count);
    backend_tell("knob", backend_ask(infos[0], CUDNN_ATTR_KNOB_INFO_TYPE,
                                     CUDNN_TYPE_KNOB_TYPE, 1, &count, &type));
    printf("  %" PRId64 ": %d\n", count, type);
    backend_tell("most",
                 backend_ask(infos[0], CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE,
                             CUDNN_TYPE_INT64, 1, &count, &index));
    printf("  %" PRId64 ": %" PRId64 "\n", count, index);
    backend_tell("an open knob",
                 backend_ask(backend_fresh(KNOB),
                             CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE,
                             CUDNN_TYPE_INT64, 1, &count, &index));
    backend_tell("knob set", backend_put(backend_fresh(KNOB),
                                         CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE,
                                         CUDNN_TYPE_INT64, 1, &index));
    backend_tell("knob finalize", backend.finalize(backend_fresh(KNOB)));
    backend_tell("engine's graph",
                 backend_ask(d, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &open));
    return d;
}

static descriptor choice(const char *what, int type, int64_t value)
{
    const struct piece pieces[] = {
        { CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type },
        { CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &value },
    };

    return backend_build(what, CHOICE, pieces, 2);
}

static descriptor config(const char *what, descriptor engine,
                         descriptor *choices, int64_t count)
{
    descriptor d = backend_fresh(CONFIG);
    cudnnStatus_t status = 0;

    backend_put(d, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                1, &engine);
    if (choices) {
        status = backend_put(d, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, count, choices);
    }
    printf("%s: set %d, finalize %d\n", what, (int)status,
           (int)backend.finalize(d));
    return d;
}

static descriptor configs(descriptor engine)
{
    descriptor choices[2] = { choice("choice", 2, 1), choice("choice", 3, 0) };
    descriptor twice[2] = { choices[0], choices[0] };
    descriptor different[2] = { choices[0], choice("choice", 2, 2) };
    descriptor wild[1] = { choice("wild choice", 2, 1000) };
    descriptor below[1] = { choice("choice below", 2, -1) };
    descriptor lower[1] = { choice("choice far below", 2, -2) };
    descriptor foreign[1] = { choice("foreign choice", 27, 1) };
    descriptor unknown[1] = { choice("unknown choice", 99, 1) };
    descriptor open[1] = { backend_fresh(CHOICE) };
    descriptor got[2] = { backend_fresh(CHOICE), backend_fresh(CHOICE) };
    descriptor d = backend_fresh(CONFIG);
    descriptor back = backend_fresh(ENGINE);
    int64_t count = -1, value = -1;

    backend_tell("workspace before",
                 backend_ask(d, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE,
                             CUDNN_TYPE_INT64, 1, &count, &value));
    d = backend_fresh(CONFIG);
    backend_tell("an open engine",
                 backend_put(d, CUDNN_ATTR_ENGINECFG_ENGINE,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &back));
    config("twice the same choice", engine, twice, 2);
    config("two choices of one knob", engine, different, 2);
    config("a choice out of range", engine, wild, 1);
    config("a choice below", engine, below, 1);
    config("a choice far below", engine, lower, 1);
    config("a foreign knob", engine, foreign, 1);
    config("an unknown knob", engine, unknown, 1);
    config("an open choice", engine, open, 1);
    config("no choices", engine, open, 0);
    d = config("both knobs", engine, choices, 2);
    backend_tell("choices",
                 backend_ask(d, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 2, &count, got));
    printf("  %" PRId64 "\n", count);
    backend_tell("one choice",
                 backend_ask(d, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, got));
    printf("  %" PRId64 "\n", count);
    backend_tell("no choice wanted",
                 backend_ask(d, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, NULL));
    printf("  %" PRId64 "\n", count);
    backend_tell("value", backend_ask(got[0], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE,
                                      CUDNN_TYPE_INT64, 1, &count, &value));
    printf("  %" PRId64 ": %" PRId64 "\n", count, value);
    backend_tell("set into a got choice",
                 backend_put(got[0], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE,
                             CUDNN_TYPE_INT64, 1, &value));
    d = config("configuration", engine, NULL, 0);
    backend_tell("choices of defaults",
                 backend_ask(d, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 2, &count, got));
    printf("  %" PRId64 "\n", count);
    backend_tell("workspace",
                 backend_ask(d, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE,
                             CUDNN_TYPE_INT64, 1, &count, &value));
    printf("  %" PRId64 ", some: %d\n", count, value > 0);
    backend_tell("get engine",
                 backend_ask(d, CUDNN_ATTR_ENGINECFG_ENGINE,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &back));
    backend_tell("its index", backend_ask(back, CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
                                          CUDNN_TYPE_INT64, 1, &count, &value));
    printf("  %" PRId64 "\n", value);
    backend_tell("engine into a finalized one",
                 backend_ask(d, CUDNN_ATTR_ENGINECFG_ENGINE,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count,
                             &engine));
    backend_tell("finalize a got engine", backend.finalize(back));
    return d;
}

static void heuristics(descriptor graph)
{
    static const int modes[] = { CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_INSTANT,
                                 CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK };
    static const int wrong = 17;
    descriptor results[100];
    descriptor d;
    descriptor open = backend_fresh(GRAPH);
    int64_t all, count = -1, value;

    for (int i = 0; i < 4; i++) {
        const struct piece pieces[] = {
            { CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
              CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph },
            { CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &modes[i] },
            { CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR,
              1, &backend_device },
        };

        for (int j = 0; j < 100; j++) {
            results[j] = backend_fresh(CONFIG);
        }
        d = backend_fresh(HEURISTICS);
        backend_put_all(d, pieces, 3, 0);
        backend_tell("heuristics of no graph", backend.finalize(d));
        d = backend_fresh(HEURISTICS);
        backend_put_all(d, pieces, 3, 1);
        backend_tell("heuristics of no mode", backend.finalize(d));
        d = backend_fresh(HEURISTICS);
        backend_put_all(d, pieces, 3, -1);
        backend_tell("results before",
                     backend_ask(d, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &all, NULL));
        backend_tell("heuristics", backend.finalize(d));
        backend_tell("how many",
                     backend_ask(d, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &all, NULL));
        backend_tell("one", backend_ask(d, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                        CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                        &count, results + 99));
        printf("  %" PRId64 "\n", count);
        backend_tell("one again", backend_ask(d, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                              CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                              &count, results + 99));
        printf("  %" PRId64 "\n", count);
        backend_tell("all", backend_ask(d, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                        CUDNN_TYPE_BACKEND_DESCRIPTOR, all,
                                        &count, results));
        printf("  some: %d, fewer: %d\n", count > 0, count < all);
        backend_tell("workspace of the first",
                     backend_ask(results[0],
                                 CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE,
                                 CUDNN_TYPE_INT64, 1, &count, &value));
        backend_tell("workspace of the last",
                     backend_ask(results[all - 1],
                                 CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE,
                                 CUDNN_TYPE_INT64, 1, &count, &value));
    }
    d = backend_fresh(HEURISTICS);
    backend_tell("mode 17", backend_put(d, CUDNN_ATTR_ENGINEHEUR_MODE,
                                        CUDNN_TYPE_HEUR_MODE, 1, &wrong));
    backend_tell("open graph",
                 backend_put(d, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &open));
    backend_tell("heuristics", backend.finalize(d));
}

static descriptor plans(descriptor config)
{
    const struct piece pieces[] = {
        { CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
          CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &config },
        { CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR,
          1, &backend_device },
    };
    descriptor d = backend_fresh(PLAN);
    descriptor open = backend_fresh(CONFIG);
    int64_t count = -1, value = -1;

    backend_tell("plan's workspace before",
                 backend_ask(d, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                             CUDNN_TYPE_INT64, 1, &count, &value));
    backend_tell("open configuration",
                 backend_put(d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &open));
    backend_put_all(d, pieces, 2, 0);
    backend_tell("plan of it", backend.finalize(d));
    d = backend_fresh(PLAN);
    backend_put_all(d, pieces, 2, 0);
    backend_tell("plan of nothing", backend.finalize(d));
    d = backend_fresh(PLAN);
    backend_put_all(d, pieces, 2, -1);
    backend_tell("plan", backend.finalize(d));
    backend_tell("plan again", backend.finalize(d));
    backend_tell("plan's workspace",
                 backend_ask(d, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                             CUDNN_TYPE_INT64, 1, &count, &value));
    printf("  %" PRId64 ", some: %d\n", count, value > 0);
    backend_tell("plan's configuration",
                 backend_ask(d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &open));
    return d;
}

static descriptor pack(const char *what, int64_t uids, int64_t pointers,
                       bool workspace)
{
    static const int64_t uid[] = { 1, 2, 3, 3 };
    static char memory[64];
    void *const pointer[4] = { memory, memory, memory, memory };
    void *const space = memory;
    descriptor d = backend_fresh(PACK);

    if (uids)
        backend_put(d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64,
                    uids, uid);
    if (pointers)
        backend_put(d, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                    CUDNN_TYPE_VOID_PTR, pointers, pointer);
    if (workspace)
        backend_put(d, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR,
                    1, &space);
    backend_tell(what, backend.finalize(d));
    return d;
}

static void packs(descriptor plan)
{
    static const int64_t uid[] = { 1, 2, 3, 3 };
    void *null[3] = { 0 };
    descriptor d;

    pack("empty pack", 0, 0, true);
    pack("no pointers", 3, 0, true);
    pack("no uids", 0, 3, true);
    pack("fewer pointers", 3, 2, true);
    pack("fewer uids", 2, 3, true);
    pack("no workspace", 3, 3, false);
    pack("a uid twice", 4, 4, true);
    d = backend_fresh(PACK);
    backend_tell("NULL pointers",
                 backend_put(d, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                             CUDNN_TYPE_VOID_PTR, 3, null));
    backend_tell("uids", backend_put(d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
                                     CUDNN_TYPE_INT64, 3, uid));
    backend_tell("NULL workspace",
                 backend_put(d, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
                             CUDNN_TYPE_VOID_PTR, 1, null));
    backend_tell("two workspaces",
                 backend_put(d, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
                             CUDNN_TYPE_VOID_PTR, 2, null));
    backend_tell("pack of NULL", backend.finalize(d));
    d = pack("pack", 3, 3, true);
    backend_tell("pack again", backend.finalize(d));
    backend_tell("uids again",
                 backend_put(d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
                             CUDNN_TYPE_INT64, 3, uid));
    backend_tell("pointers as numbers",
                 backend_put(backend_fresh(PACK),
                             CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                             CUDNN_TYPE_INT64, 3, null));
    backend_tell("execute without a handle", backend.execute(NULL, plan, d));
}

/** What others hold may be destroyed. */
static void parts_that_go(descriptor graph)
{
    descriptor e = engine("engine", graph, 1);
    descriptor c = choice("choice", 2, 1);
    descriptor d = backend_fresh(CONFIG);
    descriptor p = backend_fresh(PLAN);
    int64_t count = -1, value = -1;

    backend_tell("engine", backend_put(d, CUDNN_ATTR_ENGINECFG_ENGINE,
                                       CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &e));
    backend_tell("choice", backend_put(d, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                       CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &c));
    backend_drop(c);
    backend_drop(e);
    backend_tell("its configuration", backend.finalize(d));
    backend_tell("configuration",
                 backend_put(p, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &d));
    backend_put(p, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP,
                CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &backend_device);
    backend_drop(d);
    backend_drop(graph);
    backend_tell("its plan", backend.finalize(p));
    backend_tell("its workspace",
                 backend_ask(p, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                             CUDNN_TYPE_INT64, 1, &count, &value));
    printf("  %" PRId64 ", some: %d\n", count, value > 0);
}

static void backward(void)
{
    for (int i = 0; i < 4; i++) {
        descriptor graph = backend_backward(i % 2, (float)(i / 2), 14);
        descriptor e = engine("engine 0", graph, 0);
        descriptor d = config("its configuration", e, NULL, 0);
        descriptor p = backend_fresh(PLAN);

        backend_put(p, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &d);
        backend_put(p, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP,
                    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &backend_device);
        backend_tell("its plan", backend.finalize(p));
    }
    backend_backward(false, 0, 13);
    backend_backward(true, 0, 15);
}

void backend_engines(descriptor graph)
{
    backward();
    heuristics(graph);
    packs(plans(configs(engines(graph))));
    parts_that_go(graph);
}
