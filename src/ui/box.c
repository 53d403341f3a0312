/* The popup's box. See box.h. */
#include "ui/box.h"

struct rect box_draw(struct app *a, struct rect body, int cols, int rows, const char *title)
{
    struct rect r = {.rows = rows + 2 < body.rows ? rows + 2 : body.rows,
                     .cols = cols + 4 < body.cols ? cols + 4 : body.cols};
    r.row = body.row + (body.rows - r.rows) / 2;
    r.col = body.col + (body.cols - r.cols) / 2;
    canvas_fill(&a->canvas, r, ROLE_TEXT);
    canvas_box(&a->canvas, r, ROLE_BORDER);
    canvas_putf(&a->canvas, rect_cols(r, 2, r.cols - 4), 0, 0, ROLE_TITLE, " %s ", title);
    a->canvas.cursor_row = -1;
    return (struct rect){
        .row = r.row + 1, .col = r.col + 2, .rows = r.rows - 2, .cols = r.cols - 4};
}
