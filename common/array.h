/**
 * @file array.h
 * Arrays that grow by one entry at a time.
 *
 * Owner:   an array is the caller's to free().
 * Errors:  NULL without memory: the array is as it was.
 * Threads: no hidden state.
 */
#ifndef UC_COMMON_ARRAY_H
#define UC_COMMON_ARRAY_H

#include <stddef.h>

/**
 * One more entry of `size` bytes, zeroed, at the end of *list, which holds
 * *count (NULL and 0 at first) and may move. Only for arrays that grow by
 * this function: how much room there is follows from *count.
 */
void *uc_array_append(void **list, size_t *count, size_t size);

#endif
