/* struct fact: something learnt from a service. Immutable, reference-counted across threads,
 * digested once when it is made; never copied, however large. It has exactly one giver: the check
 * that lists it in `gives`. */
#ifndef SLUICE_CORE_FACT_H
#define SLUICE_CORE_FACT_H

#include "core/digest.h"
#include "core/node.h"

struct fact;

struct fact_type {
    const char *name;
    void (*release)(void *data); /* frees data */
    void (*hash)(const void *data,
                 struct hasher *h);         /* what consumers depend on, nothing volatile */
    struct node *(*save)(const void *data); /* for facts marked keep; else NULL */
    void *(*load)(const struct node *n);    /* NULL when the node is not of this form */
};

struct fact *fact_new(const struct fact_type *type, void *data); /* takes data; one reference */
struct fact *fact_ref(struct fact *f);
void fact_unref(struct fact *f); /* NULL is fine */
/* The data, borrowed while the reference lives. A wrong type is a bug and ends the program (70). */
const void *fact_data(const struct fact *f, const struct fact_type *type);
const struct fact_type *fact_type_of(const struct fact *f);
struct digest fact_digest(const struct fact *f);
#endif
