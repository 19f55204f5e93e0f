/**
 * @file report.h
 * Plans and profiles as people and programs read them.
 *
 * Numbers are printed with a decimal point whatever the locale. Texts
 * (layer names) are UTF-8.
 *
 * Owner:   borrows everything.
 * Errors:  UC_EINTERNAL (memory), and the profile's, which come before
 *          anything is printed; write errors stay in the FILE.
 * Threads: no hidden state.
 */
#ifndef UC_PLANNER_REPORT_H
#define UC_PLANNER_REPORT_H

#include "db/plan.h"
#include "db/profile.h"
#include "planner/curve.h"

#include <stdio.h>

enum { UC_REPORT_LINE = 320 };

enum uc_status uc_report_plan_table(FILE *out, const struct uc_plan *plan,
                                    struct uc_error *err);
/** What the table's reader should know of rows that look odd: whole sentences,
 * no markup; returns how many. */
enum { UC_REPORT_NOTES = 2 };
size_t uc_report_plan_notes(const struct uc_plan *plan,
                            const char *notes[UC_REPORT_NOTES]);
/** RFC 4180: a header, then a line an operation of each plan. */
enum uc_status uc_report_plans_csv(FILE *out, const struct uc_plan *plans,
                                   size_t count, struct uc_error *err);
/** One JSON object for one plan, an array for several. */
enum uc_status uc_report_plans_json(FILE *out, const struct uc_plan *plans,
                                    size_t count, struct uc_error *err);

/** Time against workspace, and what was asked about it. */
struct uc_report_sweep {
    const char *network, *policy;
    struct uc_plan_choices choices;
    int64_t batch;
    const struct uc_environment *environment;
    double target;             /**< whose knees are marked */
    struct uc_curve curves[2]; /**< by enum uc_plan_mode */
    int64_t asked_bytes[2];    /**< limits to mark; -1: none. What is asked
                                    for fits: uc_curve_at() is not NULL. */
};

/**
 * A table a curve; with `all` every point, else those where a time changed
 * by 5% since the last row, and the marked ones.
 */
enum uc_status uc_report_sweep_table(FILE *out,
                                     const struct uc_report_sweep *sweep,
                                     bool all, struct uc_error *err);
/** A picture's title, "alexnet, batch 256, fma", and the line below it. */
void uc_report_sweep_titles(const struct uc_report_sweep *sweep,
                            enum uc_math math, char *title, size_t size,
                            char subtitle[UC_REPORT_LINE]);
/** One JSON object, with every point. */
enum uc_status uc_report_sweep_json(FILE *out,
                                    const struct uc_report_sweep *sweep,
                                    struct uc_error *err);

enum uc_status uc_report_profile_table(FILE *out, struct uc_profile *profile,
                                       struct uc_error *err);
enum uc_status uc_report_profile_json(FILE *out, struct uc_profile *profile,
                                      struct uc_error *err);

/** "4x64" or "3x32+4", pieces in order, equal neighbours counted together
 * (so backward-filter's first joins the rest). Cut off with "..." when it
 * does not fit. */
void uc_report_split(const struct uc_plan_operation *operation, char *text,
                     size_t size);
/** "winograd/tf32", or several with " + " in order of first use. */
void uc_report_kernels(const struct uc_plan_operation *operation, char *text,
                       size_t size);

enum { UC_REPORT_TEXT = 24 };
/** Three significant digits and a unit: "12.3 us", "1.57 ms", "843 ns". */
void uc_report_time(int64_t ns, char text[UC_REPORT_TEXT]);
/** "2.31x": how many times `ns` goes into `before_ns`; "" without one. */
void uc_report_gain(int64_t before_ns, int64_t ns, char text[UC_REPORT_TEXT]);
/** "95%", "99.5%", "0.01%"; at most two decimals. */
void uc_report_share(double share, char text[UC_REPORT_TEXT]);
/** "2025-11-30 00:00:00"; UTC. */
void uc_report_date(int64_t seconds, char text[UC_REPORT_TEXT]);
/** "9.19.0" from 91900. */
void uc_report_cudnn(int version, char text[UC_REPORT_TEXT]);
/** "13.0" from 13000. */
void uc_report_cuda(int version, char text[UC_REPORT_TEXT]);

/** "1 (NVIDIA H200, cuDNN 9.19.0, CUDA 13.0), 2 (...)" as far as it fits: what
 * there is to choose from with --environment. */
void uc_report_environments(const struct uc_profile_environment *list,
                            size_t count, char *text, size_t size);

/** "power-of-two, legacy kernels only, at most 4 micro-batches": the policy,
 * and the choices that are not made when nobody tells otherwise. */
enum { UC_REPORT_CHOICES = UC_POLICY_TEXT + 256 };
void uc_report_choices(const char *policy,
                       const struct uc_plan_choices *choices,
                       char text[UC_REPORT_CHOICES]);

/** "NVIDIA H200 (compute capability 9.0, 132 multiprocessors, 139 GiB)" */
void uc_report_device(const struct uc_device *device,
                      char text[UC_REPORT_LINE]);
/** "cuDNN 9.19.0, CUDA 13.0, driver 580.159.04" */
void uc_report_versions(const struct uc_versions *versions,
                        char text[UC_REPORT_LINE]);

#endif
