/* One pass a line: walks clusters, remembers the last place where the line may end. */
#include "ui/wrap.h"

#include <string.h>

#include "ui/canvas.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The line breaks at `end`: what blanks follow belong to the break. */
static void finish(const char *s, size_t n, size_t *pos, size_t end, struct wrap_line *line)
{
    size_t next = end;
    while (next < n && is_blank(s[next]))
        next++;
    if (next < n && s[next] == '\n')
        next++;
    *pos = next;
    line->len = end - line->at;
}

bool wrap_next(const char *s, size_t n, size_t *pos, int columns, struct wrap_line *line)
{
    if (*pos >= n)
        return false;
    line->at = *pos;
    line->first = *pos == 0 || s[*pos - 1] == '\n';
    size_t i = *pos, last_break = 0; /* 0: none yet */
    int used = 0;
    bool indent = true, wide_before = false;
    while (i < n && s[i] != '\n') {
        int width;
        size_t len = canvas_cluster(s + i, n - i, &width);
        bool blank = is_blank(s[i]);
        indent = indent && blank;
        /* A line may end before a blank that follows a word, and beside a wide cluster. */
        if (!indent && i > line->at &&
            ((blank && !is_blank(s[i - 1])) || (!blank && (width == 2 || wide_before))))
            last_break = i;
        if (used + width > columns && !(blank && last_break == i)) {
            if (used == 0)
                i += len; /* wider than the whole line */
            finish(s, n, pos, last_break > 0 && used > 0 ? last_break : i, line);
            return true;
        }
        if (used + width > columns) {
            finish(s, n, pos, i, line);
            return true;
        }
        wide_before = width == 2;
        used += width;
        i += len;
    }
    line->len = i - line->at;
    *pos = i < n ? i + 1 : i;
    return true;
}

int wrap_height(const char *s, int columns)
{
    size_t n = strlen(s), pos = 0;
    struct wrap_line line;
    int rows = 0;
    while (wrap_next(s, n, &pos, columns, &line))
        rows++;
    return rows;
}
