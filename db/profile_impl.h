/**
 * @file profile_impl.h
 * What the files of profile.h share; nobody else includes it.
 *
 * Owner:   as profile.h says.
 * Errors:  as profile.h says.
 * Threads: as profile.h says.
 */
#ifndef UC_DB_PROFILE_IMPL_H
#define UC_DB_PROFILE_IMPL_H

#include "db/profile.h"
#include "db/sql.h"

/** Most images of a micro-batch. */
#define UC_PROFILE_MOST_MICRO_BATCH INT32_MAX

/** The first schema version with searches and build times. */
#define UC_PROFILE_GRAPH_SINCE 2
/** The first one that says which searches were tuned. */
#define UC_PROFILE_TUNED_SINCE 3

struct uc_profile {
    struct uc_sql *sql;
    enum uc_profile_mode mode;
};

enum uc_profile_statement {
    UC_PROFILE_FIND_ENVIRONMENT,
    UC_PROFILE_ADD_ENVIRONMENT,
    UC_PROFILE_ENVIRONMENTS,
    UC_PROFILE_COUNT,
    UC_PROFILE_FIND_PROBLEM,
    UC_PROFILE_ADD_PROBLEM,
    UC_PROFILE_FIND_KERNEL,
    UC_PROFILE_ADD_KERNEL,
    UC_PROFILE_FIND_OUTCOME,
    UC_PROFILE_ADD_OUTCOME,
    UC_PROFILE_FIND_REASON,
    UC_PROFILE_ADD_REASON,
    UC_PROFILE_STORE,
    UC_PROFILE_LOAD,
    UC_PROFILE_LOAD_1, /**< the same from a file of version 1 */
    UC_PROFILE_STORE_SEARCH,
    UC_PROFILE_LOAD_SEARCHES,
    UC_PROFILE_LOAD_SEARCHES_2, /**< the same from a file of version 2 */
    UC_PROFILE_PROBLEMS,
    UC_PROFILE_PROBLEMS_1, /**< the same from a file of version 1 */
    UC_PROFILE_OUTCOMES,
    UC_PROFILE_APIS,
    UC_PROFILE_COMPILED,
    UC_PROFILE_STATEMENTS
};

/** The id of a text in one of the naming tables; -1 when it is not there. */
enum uc_status uc_profile_find_text(struct uc_profile *profile,
                                    enum uc_profile_statement find,
                                    const char *text, int64_t *id,
                                    struct uc_error *err);

/** The same, added when it is not there. In a transaction. */
enum uc_status uc_profile_text_id(struct uc_profile *profile,
                                  enum uc_profile_statement find,
                                  enum uc_profile_statement add,
                                  const char *text, int64_t *id,
                                  struct uc_error *err);

/** Refuses a profile that was opened for reading. */
enum uc_status uc_profile_check_writable(const struct uc_profile *profile,
                                         struct uc_error *err);

#endif
