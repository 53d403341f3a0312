/* Facts: data of a service behind a counted handle; see fact.h. */
#include "core/fact.h"

#include <stdatomic.h>

#include "core/bug.h"
#include "core/mem.h"

struct fact {
    atomic_int refs;
    const struct fact_type *type;
    void *data;
    struct digest digest;
};

struct fact *fact_new(const struct fact_type *type, void *data)
{
    if (type->hash == NULL)
        bug("facts of type %s have no hash", type->name);
    struct fact *f = xcalloc(1, sizeof *f);
    atomic_init(&f->refs, 1);
    f->type = type;
    f->data = data;
    struct hasher *h = hasher_new();
    hasher_text(h, type->name);
    type->hash(data, h);
    f->digest = hasher_end(h);
    return f;
}

struct fact *fact_ref(struct fact *f)
{
    if (f != NULL)
        atomic_fetch_add_explicit(&f->refs, 1, memory_order_relaxed);
    return f;
}

void fact_unref(struct fact *f)
{
    if (f == NULL || atomic_fetch_sub_explicit(&f->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (f->type->release != NULL)
        f->type->release(f->data);
    xfree(f);
}

const void *fact_data(const struct fact *f, const struct fact_type *type)
{
    if (f == NULL)
        return NULL;
    if (f->type != type)
        bug("a fact of type %s is read as %s", f->type->name, type->name);
    return f->data;
}

const struct fact_type *fact_type_of(const struct fact *f)
{
    return f->type;
}

struct digest fact_digest(const struct fact *f)
{
    return f->digest;
}
