/* Collections as Estuary's discovery wrote them, as a fact that is kept in the state: the export
 * and the trial publication use them in place of drafts by hand. */
#ifndef SLUICE_STEPS_SPEC_DISCOVERED_H
#define SLUICE_STEPS_SPEC_DISCOVERED_H

#include <stdbool.h>

#include "core/fact.h"
#include "steps/spec/inputs.h"

#define SPEC_FACT_DISCOVERED "capture.discovered"

struct spec_collection {
    char *name; /* "acmeCo/shop/public/orders" */
    struct node *model;
};
struct spec_discovered {
    size_t count;
    struct spec_collection *list;
};
extern const struct fact_type spec_discovered_type;

void spec_discovered_add(struct spec_discovered *d, const char *name, struct node *model);
void spec_discovered_release(struct spec_discovered *d);
#define AUTO_SPEC_DISCOVERED                                                                       \
    __attribute__((cleanup(spec_discovered_release))) struct spec_discovered
/* Takes the content, leaves it empty; one reference to be given on. */
struct fact *spec_discovered_fact(struct spec_discovered *d);
/* NULL d and an unknown name: NULL. */
const struct node *spec_discovered_model(const struct spec_discovered *d, const char *name);
/* The document tells of each change what it was (_meta/op): what hard deletes rest on. */
bool spec_tells_deletes(const struct node *model);
/* The first collection of t that was not discovered, or does not tell deletes; NULL = all do. */
const char *spec_undiscovered(const struct spec_discovered *d, const struct spec_tables *t);
#endif
