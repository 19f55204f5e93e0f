#include "config.h"

#include "planner/cmd_show_html.h"

#include "planner/data.h"
#include "planner/outfile.h"
#include "planner/page.h"
#include "planner/replan.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The share of the best speed whose least limit the picture marks. */
#define TARGET 0.95

/** What a page's plan borrows. */
struct curve {
    struct uc_curve curve;
    struct uc_error why; /**< of having none */
};

/** The plan's curve from a profile, by its name. */
static enum uc_status take_curve(const struct uc_plan *plan, const char *name,
                                 struct uc_curve *curve, struct uc_error *err)
{
    struct uc_profile *profile = NULL;
    char path[PATH_MAX];
    enum uc_status status =
        uc_data_find(UC_DATA_PROFILE, name, path, sizeof path, err);

    if (status == UC_OK)
        status = uc_profile_open(path, UC_PROFILE_READ, &profile, err);
    if (status == UC_OK) {
        status = uc_replan_curve(plan, profile, TARGET, curve, err);
        if (status != UC_OK)
            status = uc_wrap(err, status, name);
    }
    uc_profile_close(profile);
    return status;
}

/** From the first shipped profile that has it; else *why of the first. */
static bool take_shipped(const struct uc_plan *plan, struct uc_curve *curve,
                         struct uc_error *why)
{
    char **names = NULL;
    size_t count = 0;
    struct uc_error other;
    bool found = false;

    if (uc_data_list(UC_DATA_PROFILE, &names, &count, why) != UC_OK)
        return false;
    if (count == 0)
        uc_fail(why, UC_EMISSING, "no profile was given, and none ships");
    for (size_t i = 0; i < count && !found; i++)
        found =
            take_curve(plan, names[i], curve, i == 0 ? why : &other) == UC_OK;
    uc_data_free(names, count);
    return found;
}

static enum uc_status take_curves(const struct uc_plan *plans, size_t count,
                                  const char *profile, struct curve *curves,
                                  struct uc_page_plan *pages,
                                  struct uc_error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct curve *curve = &curves[i];
        bool found = true;

        if (profile == NULL) {
            found = take_shipped(&plans[i], &curve->curve, &curve->why);
        } else {
            enum uc_status status =
                take_curve(&plans[i], profile, &curve->curve, err);

            if (status != UC_OK)
                return status;
        }
        pages[i] =
            (struct uc_page_plan){ &plans[i], found ? &curve->curve : NULL,
                                   curve->why.text, TARGET };
    }
    return UC_OK;
}

enum uc_status show_html(const char *path, const struct uc_plan *plans,
                         size_t count, const char *profile,
                         struct uc_error *err)
{
    struct uc_page_plan *pages = calloc(count + 1, sizeof *pages);
    struct curve *curves = calloc(count + 1, sizeof *curves);
    struct outfile file = { .path = NULL };
    enum uc_status status = UC_OK;

    if (pages == NULL || curves == NULL)
        status = uc_no_memory(err);
    if (status == UC_OK)
        status = take_curves(plans, count, profile, curves, pages, err);
    if (status == UC_OK)
        status = outfile_begin(&file, path, err);
    if (status == UC_OK) {
        uc_page_print(file.stream, pages, count);
        status = outfile_finish(&file, err);
    }
    outfile_drop(&file);
    for (size_t i = 0; i < count && curves != NULL; i++)
        uc_curve_free(&curves[i].curve);
    free(curves);
    free(pages);
    return status;
}
