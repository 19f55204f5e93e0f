/*
 * One sequence of calls of cuDNN's graph API, right ones and wrong ones, and
 * what each answered: run on the double and on the real library, the two
 * outputs must be the same. No GPU: the device is described.
 *
 *   backend LIBRARY DEVICE.json
 */
#include "config.h"

#include "tests/client/backend.h"

#include <dlfcn.h>
#include <stdlib.h>

enum { MOST = 1024 };

static descriptor made[MOST];
static int made_count;
descriptor backend_device;
struct backend_calls backend;

void backend_tell(const char *what, cudnnStatus_t status)
{
    printf("%s: %d\n", what, (int)status);
}

descriptor backend_fresh(int type)
{
    descriptor d = NULL;

    if (backend.create((cudnnBackendDescriptorType_t)type, &d) != 0 ||
        made_count == MOST) {
        printf("no descriptor of type %d\n", type);
        exit(1);
    }
    made[made_count++] = d;
    return d;
}

void backend_drop(descriptor d)
{
    for (int i = 0; i < made_count; i++) {
        if (made[i] == d) {
            made[i] = made[--made_count];
            backend_tell("destroy", backend.destroy(d));
            return;
        }
    }
}

cudnnStatus_t backend_put(descriptor d, int name, int type, int64_t count,
                          const void *values)
{
    return backend.set(d, (cudnnBackendAttributeName_t)name,
                       (cudnnBackendAttributeType_t)type, count, values);
}

cudnnStatus_t backend_ask(descriptor d, int name, int type, int64_t wanted,
                          int64_t *count, void *values)
{
    return backend.get(d, (cudnnBackendAttributeName_t)name,
                       (cudnnBackendAttributeType_t)type, wanted, count,
                       values);
}

void backend_put_all(descriptor d, const struct piece *pieces, int count,
                     int without)
{
    for (int i = 0; i < count; i++) {
        if (i != without) {
            cudnnStatus_t status =
                backend_put(d, pieces[i].name, pieces[i].type, pieces[i].count,
                            pieces[i].values);

            if (status != CUDNN_STATUS_SUCCESS) {
                printf("  attribute %d: %d\n", pieces[i].name, (int)status);
            }
        }
    }
}

descriptor backend_build(const char *what, int type, const struct piece *pieces,
                         int count)
{
    descriptor d;

    for (int i = 0; i < count; i++) {
        d = backend_fresh(type);
        backend_put_all(d, pieces, count, i);
        printf("%s without %d: %d\n", what, pieces[i].name,
               (int)backend.finalize(d));
    }
    d = backend_fresh(type);
    backend_put_all(d, pieces, count, -1);
    backend_tell(what, backend.finalize(d));
    return d;
}

static const int64_t one = 1;

static void devices(const char *json)
{
    int64_t length = (int64_t)strlen(json);
    descriptor d = backend_fresh(DEVICE);

    backend_tell("empty device", backend.finalize(d));
    backend_tell("description without its NUL",
                 backend_put(d, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                             CUDNN_TYPE_CHAR, length, json));
    d = backend_fresh(DEVICE);
    backend_tell("not JSON",
                 backend_put(d, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                             CUDNN_TYPE_CHAR, 4, "{x!"));
    backend_tell("  its device", backend.finalize(d));
    backend_device = backend_fresh(DEVICE);
    backend_tell("description",
                 backend_put(backend_device,
                             CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                             CUDNN_TYPE_CHAR, length + 1, json));
    backend_tell("device", backend.finalize(backend_device));
}

/** The pointer of a function of the library. */
static void resolve(void *library, const char *name, void *to)
{
    void *found = dlsym(library, name);

    if (!found) {
        printf("no %s\n", name);
        exit(1);
    }
    memcpy(to, &found, sizeof found);
}

int main(int argc, char **argv)
{
    static char json[4096];
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    FILE *file = argc == 3 ? fopen(argv[2], "r") : NULL;
    descriptor d = NULL;

    if (!library || !file || fread(json, 1, sizeof json - 1, file) == 0) {
        fprintf(stderr, "usage: backend LIBRARY DEVICE.json\n");
        return 1;
    }
    fclose(file);
    setvbuf(stdout, NULL, _IOLBF, 0);
    json[strcspn(json, "\n")] = '\0';
    resolve(library, "cudnnBackendCreateDescriptor", &backend.create);
    resolve(library, "cudnnBackendDestroyDescriptor", &backend.destroy);
    resolve(library, "cudnnBackendSetAttribute", &backend.set);
    resolve(library, "cudnnBackendGetAttribute", &backend.get);
    resolve(library, "cudnnBackendFinalize", &backend.finalize);
    resolve(library, "cudnnBackendExecute", &backend.execute);
    backend_tell("create type 999",
                 backend.create((cudnnBackendDescriptorType_t)999, &d));
    backend_tell("destroy NULL", backend.destroy(NULL));
    backend_tell("finalize NULL", backend.finalize(NULL));
    backend_tell("set in NULL", backend_put(NULL, CUDNN_ATTR_TENSOR_UNIQUE_ID,
                                            CUDNN_TYPE_INT64, 1, &one));
    devices(json);
    backend_tensors();
    backend_convolutions();
    backend_engines(backend_graph());
    for (int i = 0; i < made_count; i++) {
        if (backend.destroy(made[i]) != CUDNN_STATUS_SUCCESS) {
            printf("descriptor %d is not destroyed\n", i);
        }
    }
    return 0;
}
