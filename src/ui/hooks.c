/* See hooks.h. */
#include "ui/hooks.h"

#include "core/mem.h"

void exported_release(struct exported *e)
{
    xfree(e->path);
    xfree(e->form);
    xfree(e->next);
    *e = (struct exported){0};
}
