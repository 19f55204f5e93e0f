#include "config.h"

#include "planner/canvas.h"

enum uc_status uc_canvas_can_image(struct uc_error *err)
{
    return uc_fail(err, UC_EINPUT,
                   "built without cairo, images cannot be drawn (Debian: "
                   "libcairo2-dev, then ./configure again)");
}

enum uc_status uc_canvas_image(enum uc_image kind, double width, double height,
                               uc_canvas_draw *draw, const void *context,
                               FILE *out, struct uc_error *err)
{
    (void)kind;
    (void)width;
    (void)height;
    (void)draw;
    (void)context;
    (void)out;
    return uc_canvas_can_image(err);
}
