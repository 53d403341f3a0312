/* Names of what a check row says of itself, as in JSON and in the docs. */
#include "core/check.h"

#include "core/mem.h"

const char *severity_name(enum severity s)
{
    static const char *const names[] = {
        [SEV_BLOCKS] = "blocks",
        [SEV_DANGER] = "danger",
        [SEV_WARNS] = "warns",
        [SEV_INFORMS] = "informs",
    };
    return (unsigned)s < ARRAY_LEN(names) ? names[s] : "blocks";
}

const char *effect_name(enum effect e)
{
    static const char *const names[] = {
        [EFFECT_READS] = "reads",
        [EFFECT_PROBES] = "probes",
        [EFFECT_COSTS] = "costs",
    };
    return (unsigned)e < ARRAY_LEN(names) ? names[e] : "costs";
}
