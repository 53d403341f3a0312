/* Recently used state files, for the opening screen: paths only, newest first. Best effort: the
 * wizard works without it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/mem.h"
#include "core/state.h"

#define RECENT_MAX 20

static char *recent_path(void)
{
    const char *base = getenv("XDG_STATE_HOME");
    if (base != NULL && base[0] == '/')
        return xasprintf("%s/sluice/recent", base);
    const char *home = getenv("HOME");
    return home != NULL && home[0] == '/' ? xasprintf("%s/.local/state/sluice/recent", home) : NULL;
}

char **recent_list(size_t *count)
{
    char **list = NULL;
    AUTO(xfree) char *path = recent_path();
    AUTO_TEXT bytes = TEXT_INIT;
    *count = 0;
    if (path == NULL || file_read(path, 1 << 16, false, &bytes, NULL) != 0)
        return NULL;
    for (char *at = bytes.s; *at != '\0' && *count < RECENT_MAX;) {
        char *end = strchrnul(at, '\n');
        AUTO(xfree) char *line = xstrndup(at, (size_t)(end - at));
        if (line[0] == '/' && file_exists(line)) {
            list = xrealloc(list, *count + 1, sizeof(char *));
            list[(*count)++] = xstrdup(line);
        }
        at = *end == '\0' ? end : end + 1;
    }
    return list;
}

void recent_add(const char *path)
{
    AUTO(xfree) char *recent = recent_path();
    char *absolute = realpath(path, NULL);
    if (recent == NULL || absolute == NULL || strchr(absolute, '\n') != NULL) {
        free(absolute);
        return;
    }
    size_t count;
    char **list = recent_list(&count);
    AUTO_TEXT out = TEXT_INIT;
    text_addf(&out, "%s\n", absolute);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i], absolute) != 0 && i + 1 < RECENT_MAX)
            text_addf(&out, "%s\n", list[i]);
        xfree(list[i]);
    }
    xfree(list);
    free(absolute);
    AUTO(xfree) char *directory = file_dirname(recent);
    if (file_make_dirs(directory, NULL) == 0)
        file_replace(recent, out.s, out.len, false, NULL);
}

char *state_default_path(void)
{
    return xstrdup("sluice.yaml");
}
