/* The tables of a catalog: their names, and the location of one that exists, so that nobody has to
 * type what the catalog knows. */
#ifndef SLUICE_CATALOG_TABLES_H
#define SLUICE_CATALOG_TABLES_H

#include "catalog/rest.h"

struct catalog_place {
    char *name;     /* "shop.orders" */
    char *location; /* "s3://lake-acme/iceberg/shop/orders_1f…"; NULL = there is no table */
};
void catalog_place_release(struct catalog_place *p);

/* Asks namespace by namespace, a few of them, until one has a table. 0 also when none has. A
 * namespace that may not be read is passed over while another can be. */
int catalog_find_table(struct run *run, const struct catalog_target *t,
                       const struct catalog_config *config, const struct catalog_names *namespaces,
                       struct catalog_place *out, struct problem *err);

/* Names of the tables in a namespace, in pages; none when there is no such namespace. */
int catalog_list_tables(struct run *run, const struct catalog_target *t,
                        const struct catalog_config *config, const char *namespace,
                        struct catalog_names *out, struct problem *err);

/* Pure: adds one page; *next gets the token of the next page (xfree) or NULL. */
int catalog_tables_read(const char *body, size_t n, struct catalog_names *out, char **next,
                        struct problem *err);
/* Pure: a table's location; xfree. */
int catalog_location_read(const char *body, size_t n, char **location, struct problem *err);
#endif
