#include "config.h"

#include "common/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *uc_array_append(void **list, size_t *count, size_t size)
{
    void *grown = *list;

    /* Doubled at each power of two. */
    if ((*count & (*count - 1)) == 0) {
        size_t room = *count == 0 ? 1 : 2 * *count;

        if (room > SIZE_MAX / size)
            return NULL;
        grown = realloc(*list, room * size);
    }
    if (grown == NULL)
        return NULL;
    *list = grown;
    return memset((char *)grown + (*count)++ * size, 0, size);
}
