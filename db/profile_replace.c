#include "config.h"

#include "db/profile_replace.h"

#include <sys/stat.h>

enum uc_status uc_profile_replace_begin(const char *path,
                                        struct uc_profile_replace *replace,
                                        struct uc_error *err)
{
    enum uc_status status = uc_replace_begin(path, &replace->file, err);

    /* Which also plays back what a killed writer left. */
    if (status == UC_OK && replace->file.exists)
        status = uc_profile_open(path, UC_PROFILE_HOLD, &replace->old, err);
    if (status == UC_OK)
        status = uc_replace_create(&replace->file, err);
    if (status == UC_OK) {
        status = uc_profile_open(replace->file.temporary, UC_PROFILE_PRIVATE,
                                 &replace->profile, err);
        if (status != UC_OK)
            uc_wrap(err, status, path);
    }
    return status;
}

/** Nobody was kept from making the file that was not there. */
static enum uc_status check_absent(const struct uc_replace *file,
                                   struct uc_error *err)
{
    struct stat st;

    if (stat(file->real, &st) == 0 && st.st_size > 0)
        return uc_fail(err, UC_EFILE,
                       "%.256s: another program has made it meanwhile",
                       file->path);
    return UC_OK;
}

enum uc_status uc_profile_replace_end(struct uc_profile_replace *replace,
                                      enum uc_status status,
                                      struct uc_error *err)
{
    if (status == UC_OK)
        status = uc_profile_vacuum(replace->profile, err);
    uc_profile_close(replace->profile);
    replace->profile = NULL;
    if (status == UC_OK && replace->old == NULL)
        status = check_absent(&replace->file, err);
    if (status == UC_OK)
        status = uc_replace_commit(&replace->file, err);
    uc_profile_close(replace->old);
    replace->old = NULL;
    uc_replace_end(&replace->file);
    return status;
}
