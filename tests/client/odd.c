/*
 * odd WAY [OPTION...]: what programs also do. Options are those of run.h.
 *
 *   capture  a call under stream capture, one without, one under capture
 *   overlap  calls, each while another thread captures a stream of its own
 *   first    counts the files that the first planned calls open
 *   graphs   calls on two streams, with captures of either between them
 *   refused  calls on a stream, the same captured, and on another stream
 *   stuck    a call on a stream that never gets done, a capture of another
 *   warm     counts what a thousand calls do that is not a convolution
 *   null     calls without alpha, beta, tensors, descriptors or a handle
 *   fork     a child that does not use CUDA, another that runs /bin/true
 *   exit     ends while other threads convolve
 *   scalars  17 pairs of alpha and beta, the last while a thread waits for
 *            cuDNN to build an engine
 *   threads  eight threads, each with a handle and a stream
 *   streams  one handle that changes its stream between calls
 *   devices  every device in turn, each with a handle
 */
#include "config.h"

#include "tests/client/count.h"
#include "tests/client/run.h"
#include "tests/double/double.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct client_options options;

static CUcontext context;

static void start(struct client *client, unsigned stream_flags)
{
    CUstream stream;

    CLIENT_DO(cuCtxSetCurrent(context));
    CLIENT_DO(cuStreamCreate(&stream, stream_flags));
    client_start(client, stream, (size_t)options.workspace_bytes);
}

static void stop(struct client *client)
{
    CUstream stream = client->stream;

    client_stop(client);
    CLIENT_DO(cuStreamDestroy(stream));
}

/** The first case that the options take, or the first that they do not. */
static void open_first(const struct client *client, bool taken,
                       struct client_problem *problem)
{
    struct client_case c;
    int i = 0;

    do
        client_case_make(i++, &c);
    while (taken != (options.only == NULL || strstr(c.name, options.only)));
    client_open(client, &c, problem);
}

static void open_case(const struct client *client,
                      struct client_problem *problem)
{
    open_first(client, true, problem);
}

static void capture(void)
{
    struct client client;
    struct client_problem problem;
    CUgraph graph;

    start(&client, CU_STREAM_NON_BLOCKING);
    open_case(&client, &problem);
    for (int i = 0; i < 3; i++) {
        if (i != 1)
            CLIENT_DO(cuStreamBeginCapture(client.stream,
                                           CU_STREAM_CAPTURE_MODE_GLOBAL));
        for (int op = 0; op < CLIENT_OPERATIONS; op++)
            CLIENT_DO(client_convolve(&problem, (enum client_operation)op,
                                      options.algorithm, 1, 1));
        if (i != 1) {
            CLIENT_DO(cuStreamEndCapture(client.stream, &graph));
            CLIENT_DO(cuGraphDestroy(graph));
        }
    }
    client_close(&problem);
    stop(&client);
}

/* Two streams, of which one captures ---------------------------------------*/

enum { STREAMS = 2 };

static struct client client_of_streams;
static struct client_problem problem_of_streams;
static CUstream streams_of_client[STREAMS];

static void open_streams(void)
{
    start(&client_of_streams, CU_STREAM_NON_BLOCKING);
    open_case(&client_of_streams, &problem_of_streams);
    for (int i = 0; i < STREAMS; i++)
        CLIENT_DO(
            cuStreamCreate(&streams_of_client[i], CU_STREAM_NON_BLOCKING));
}

static void close_streams(void)
{
    CLIENT_DO(cudnnSetStream(client_of_streams.handle,
                             (cudaStream_t)client_of_streams.stream));
    for (int i = 0; i < STREAMS; i++)
        CLIENT_DO(cuStreamDestroy(streams_of_client[i]));
    client_close(&problem_of_streams);
    stop(&client_of_streams);
}

/** All operations on one of the streams, captured or not. */
static void use_stream(int which, bool captured)
{
    CUstream stream = streams_of_client[which];
    CUgraph graph;

    CLIENT_DO(cudnnSetStream(client_of_streams.handle, (cudaStream_t)stream));
    if (captured)
        CLIENT_DO(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int op = 0; op < CLIENT_OPERATIONS; op++)
        CLIENT_DO(client_convolve(&problem_of_streams,
                                  (enum client_operation)op, options.algorithm,
                                  1, 0));
    if (captured) {
        CLIENT_DO(cuStreamEndCapture(stream, &graph));
        CLIENT_DO(cuGraphDestroy(graph));
    }
}

static void graphs(void)
{
    open_streams();
    use_stream(0, false);
    use_stream(1, false); /* waits for the other */
    use_stream(0, true);  /* whose work is done */
    use_stream(0, false);
    use_stream(1, false); /* no longer */
    use_stream(1, true);
    use_stream(0, true);
    close_streams();
}

static void refused(void)
{
    open_streams();
    use_stream(0, false);
    use_stream(0, true);
    use_stream(1, false);
    close_streams();
}

static void stuck(void)
{
    open_streams();
    use_stream(0, false);
    use_stream(1, true);
    exit(0); /* nobody can wait for the first */
}

/* Another thread captures -------------------------------------------------*/

static pthread_barrier_t barrier;
static pthread_t capturer;

static void meet(void)
{
    pthread_barrier_wait(&barrier);
}

/** Captures a convolution of another case from one meeting to the next, and
    prints whether the graph is whole. */
static void *capture_meanwhile(void *unused)
{
    struct client client;
    struct client_problem problem;
    CUgraph graph = NULL;
    CUresult result;

    (void)unused;
    start(&client, CU_STREAM_NON_BLOCKING);
    open_first(&client, false, &problem);
    CLIENT_DO(
        cuStreamBeginCapture(client.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CLIENT_DO(
        client_convolve(&problem, CLIENT_FORWARD, options.algorithm, 1, 0));
    meet();
    meet();
    result = cuStreamEndCapture(client.stream, &graph);
    printf("capture %d %s\n", (int)result, graph != NULL ? "whole" : "spoiled");
    if (graph != NULL)
        CLIENT_DO(cuGraphDestroy(graph));
    client_close(&problem);
    stop(&client);
    return NULL;
}

static void begin_overlap(void)
{
    CLIENT_DO(pthread_create(&capturer, NULL, capture_meanwhile, NULL));
    meet();
}

static void end_overlap(void)
{
    meet();
    CLIENT_DO(pthread_join(capturer, NULL));
}

static void overlap(void)
{
    struct client client;

    options.ready = begin_overlap;
    options.done = end_overlap;
    pthread_barrier_init(&barrier, NULL, 2);
    start(&client, CU_STREAM_NON_BLOCKING);
    client_run_cases(&options, &client, stdout);
    stop(&client);
    pthread_barrier_destroy(&barrier);
}

static void first(void)
{
    struct client client;
    struct client_problem problem;
    size_t bytes;
    long files;

    start(&client, CU_STREAM_NON_BLOCKING);
    open_case(&client, &problem);
    /* Refused, but whoever stands in front of cuDNN is awake. */
    cudnnGetConvolutionForwardWorkspaceSize(client.handle, NULL, NULL, NULL,
                                            NULL, 0, &bytes);
    files = client_files();
    for (int op = 0; op < CLIENT_OPERATIONS; op++)
        CLIENT_DO(client_convolve(&problem, (enum client_operation)op,
                                  options.algorithm, 1, 0));
    if (client_files() < 0)
        printf("files unknown\n");
    else
        printf("files %ld\n", client_files() - files);
    client_close(&problem);
    stop(&client);
}

static void warm(void)
{
    static const struct {
        const char *name;
        enum uc_double_counter counter;
    } counters[] = {
        { "memory", UC_DOUBLE_ALLOCATIONS },
        { "synchronisations", UC_DOUBLE_SYNCHRONISATIONS },
        { "queries", UC_DOUBLE_QUERIES },
        { "exchanges", UC_DOUBLE_EXCHANGES },
        { "descriptors", UC_DOUBLE_DESCRIPTORS },
        { "convolutions", UC_DOUBLE_CONVOLUTIONS },
    };
    enum { COUNTERS = sizeof counters / sizeof *counters };
    uint64_t before[COUNTERS];
    long allocations = 0, files = 0;
    struct client client;
    struct client_problem problem;

    start(&client, CU_STREAM_NON_BLOCKING);
    open_case(&client, &problem);
    for (int i = 0; i < 1003; i++) {
        for (int op = 0; op < CLIENT_OPERATIONS; op++)
            CLIENT_DO(client_convolve(&problem, (enum client_operation)op,
                                      options.algorithm, 1, 1));
        if (i != 2)
            continue;
        for (int n = 0; n < COUNTERS; n++)
            before[n] = uc_double_count(counters[n].counter);
        allocations = client_allocations();
        files = client_files();
    }
    if (client_allocations() < 0)
        printf("allocations unknown\nfiles unknown\n");
    else
        printf("allocations %ld\nfiles %ld\n",
               client_allocations() - allocations, client_files() - files);
    for (int n = 0; n < COUNTERS; n++)
        printf("%s %llu\n", counters[n].name,
               (unsigned long long)(uc_double_count(counters[n].counter) -
                                    before[n]));
    client_close(&problem);
    stop(&client);
}

static void null(void)
{
    struct client client;
    struct client_problem p;
    float one = 1, zero = 0;
    void *x, *w, *y, *space;

    start(&client, CU_STREAM_DEFAULT);
    open_case(&client, &p);
    x = (void *)(uintptr_t)p.data[CLIENT_X];
    w = (void *)(uintptr_t)p.data[CLIENT_W];
    y = (void *)(uintptr_t)p.data[CLIENT_Y];
    space = (void *)(uintptr_t)client.workspace;
#define FORWARD(handle, alpha, xd, x, wd, w, conv, space, beta, yd, y)     \
    printf("%d\n",                                                         \
           cudnnConvolutionForward(handle, alpha, xd, x, wd, w, conv,      \
                                   CUDNN_CONVOLUTION_FWD_ALGO_GEMM, space, \
                                   client.workspace_bytes, beta, yd, y))
    for (int i = 0; i < 2; i++) { /* before and after it is warm */
        FORWARD(client.handle, NULL, p.x, x, p.w, w, p.convolution, space,
                &zero, p.y, y);
        FORWARD(client.handle, &one, p.x, x, p.w, w, p.convolution, space, NULL,
                p.y, y);
        FORWARD(client.handle, &one, p.x, NULL, p.w, w, p.convolution, space,
                &zero, p.y, y);
        FORWARD(client.handle, &one, p.x, x, p.w, NULL, p.convolution, space,
                &zero, p.y, y);
        FORWARD(client.handle, &one, p.x, x, p.w, w, p.convolution, space,
                &zero, p.y, NULL);
        FORWARD(client.handle, &one, p.x, x, p.w, w, p.convolution, NULL, &zero,
                p.y, y);
        FORWARD(client.handle, &one, NULL, x, p.w, w, p.convolution, space,
                &zero, p.y, y);
        FORWARD(client.handle, &one, p.x, x, NULL, w, p.convolution, space,
                &zero, p.y, y);
        FORWARD(client.handle, &one, p.x, x, p.w, w, NULL, space, &zero, p.y,
                y);
        FORWARD(client.handle, &one, p.x, x, p.w, w, p.convolution, space,
                &zero, NULL, y);
        FORWARD(NULL, &one, p.x, x, p.w, w, p.convolution, space, &zero, p.y,
                y);
        FORWARD(client.handle, &one, p.x, x, p.w, w, p.convolution, space,
                &zero, p.y, y);
    }
    client_close(&p);
    stop(&client);
}

static void fork_both(void)
{
    struct client client;
    int status;
    pid_t child;

    start(&client, CU_STREAM_DEFAULT);
    client_run_cases(&options, &client, stdout);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        free(malloc(100));
        exit(getpid() > 0 ? 41 : 1);
    }
    CLIENT_DO(waitpid(child, &status, 0) != child || status != 41 << 8);
    child = fork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    CLIENT_DO(waitpid(child, &status, 0) != child || status != 0);
    client_run_cases(&options, &client, stdout);
    stop(&client);
}

/* Threads ------------------------------------------------------------------*/

enum { THREADS = 8 };

static void *convolve_forever(void *unused)
{
    struct client client;
    struct client_problem problem;

    (void)unused;
    start(&client, CU_STREAM_NON_BLOCKING);
    open_case(&client, &problem);
    CLIENT_DO(
        client_convolve(&problem, CLIENT_FORWARD, options.algorithm, 1, 0));
    pthread_barrier_wait(&barrier);
    for (;;)
        client_convolve(&problem, CLIENT_FORWARD, options.algorithm, 1, 0);
    return NULL;
}

static void exit_early(void)
{
    pthread_t thread;

    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        CLIENT_DO(pthread_create(&thread, NULL, convolve_forever, NULL));
    pthread_barrier_wait(&barrier);
    exit(0);
}

static void *build_forever(void *unused)
{
    struct client client;
    struct client_problem problem;

    (void)unused;
    start(&client, CU_STREAM_NON_BLOCKING);
    open_case(&client, &problem);
    pthread_barrier_wait(&barrier);
    client_convolve(&problem, CLIENT_BACKWARD_DATA, options.algorithm, 1, 0);
    return NULL;
}

/** The other operation's engine is never built: this one must not mind. */
static void use_many_scalars(void)
{
    const struct timespec moment = { 0, 200 * 1000000 };
    struct client client;
    struct client_problem problem;
    pthread_t thread;

    start(&client, CU_STREAM_NON_BLOCKING);
    open_case(&client, &problem);
    for (int i = 0; i < 16; i++)
        CLIENT_DO(client_convolve(&problem, CLIENT_FORWARD, options.algorithm,
                                  1 + i, 0));
    pthread_barrier_init(&barrier, NULL, 2);
    CLIENT_DO(pthread_create(&thread, NULL, build_forever, NULL));
    pthread_barrier_wait(&barrier);
    nanosleep(&moment, NULL);
    alarm(20);
    for (int i = 0; i < 18; i++)
        CLIENT_DO(client_convolve(&problem, CLIENT_FORWARD, options.algorithm,
                                  1 + i, 0));
    puts("done");
    exit(0); /* as the other thread never does */
}

struct worker {
    pthread_t thread;
    char *text;
    size_t length;
};

static void *run_all(void *argument)
{
    struct worker *worker = argument;
    FILE *out = open_memstream(&worker->text, &worker->length);
    struct client client;

    CLIENT_DO(out == NULL);
    start(&client, CU_STREAM_NON_BLOCKING);
    client_run_cases(&options, &client, out);
    stop(&client);
    fclose(out);
    return NULL;
}

static void run_threads(void)
{
    struct worker workers[THREADS];

    /* All make the same calls at the same time: they meet where an operation
     * is not prepared yet. */
    options.ready = meet;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        CLIENT_DO(
            pthread_create(&workers[i].thread, NULL, run_all, &workers[i]));
    for (int i = 0; i < THREADS; i++) {
        CLIENT_DO(pthread_join(workers[i].thread, NULL));
        fputs(workers[i].text, stdout);
        free(workers[i].text);
    }
    pthread_barrier_destroy(&barrier);
}

/** One handle, three streams in turn; a call is on the one that it has. */
static void change_streams(void)
{
    CUstream streams[3];
    struct client client;
    struct client_problem problem;

    start(&client, CU_STREAM_NON_BLOCKING);
    open_case(&client, &problem);
    for (int i = 0; i < 3; i++)
        CLIENT_DO(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 6; i++) {
        CLIENT_DO(cudnnSetStream(client.handle, (cudaStream_t)streams[i % 3]));
        printf("%p\n", (void *)streams[i % 3]);
        CLIENT_DO(
            client_convolve(&problem, CLIENT_FORWARD, options.algorithm, 1, 0));
    }
    CLIENT_DO(cudnnSetStream(client.handle, (cudaStream_t)client.stream));
    for (int i = 0; i < 3; i++)
        CLIENT_DO(cuStreamDestroy(streams[i]));
    client_close(&problem);
    stop(&client);
}

static void change_devices(void)
{
    const CUcontext first = context;
    struct client client;
    int count = 0;

    CLIENT_DO(cuDeviceGetCount(&count));
    for (int device = 0; device < count; device++) {
        CLIENT_DO(cuDevicePrimaryCtxRetain(&context, device));
        start(&client, CU_STREAM_NON_BLOCKING);
        client_run_cases(&options, &client, stdout);
        stop(&client);
        CLIENT_DO(cuDevicePrimaryCtxRelease(device));
    }
    context = first;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*go)(void);
    } ways[] = { { "capture", capture },
                 { "overlap", overlap },
                 { "graphs", graphs },
                 { "refused", refused },
                 { "stuck", stuck },
                 { "first", first },
                 { "warm", warm },
                 { "null", null },
                 { "fork", fork_both },
                 { "exit", exit_early },
                 { "scalars", use_many_scalars },
                 { "threads", run_threads },
                 { "streams", change_streams },
                 { "devices", change_devices } };

    if (argc < 2 || !client_parse(argc - 1, argv + 1, &options))
        return 2;
    CLIENT_DO(cuInit(0));
    CLIENT_DO(cuDevicePrimaryCtxRetain(&context, 0));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[1], ways[i].name) == 0) {
            ways[i].go();
            CLIENT_DO(cuDevicePrimaryCtxRelease(0));
            return 0;
        }
    return 2;
}
