/* The image as a fact, kept: the export names it. */
#include "steps/spec/image.h"

#include "core/mem.h"
#include "estuary/spec.h"

static void image_free(void *data)
{
    struct spec_image *i = data;
    xfree(i->image);
    xfree(i);
}

static void image_hash(const void *data, struct hasher *h)
{
    const struct spec_image *i = data;
    hasher_text(h, i->image);
}

static struct node *image_save(const void *data)
{
    const struct spec_image *i = data;
    return node_scalar(i->image);
}

static void *image_load(const struct node *n)
{
    if (node_text(n) == NULL)
        return NULL;
    struct spec_image *i = xcalloc(1, sizeof *i);
    i->image = xstrdup(node_text(n));
    return i;
}

const struct fact_type spec_image_type = {.name = "connector image",
                                          .release = image_free,
                                          .hash = image_hash,
                                          .save = image_save,
                                          .load = image_load};

struct fact *spec_image_fact(const char *image)
{
    struct spec_image *i = xcalloc(1, sizeof *i);
    i->image = xstrdup(image);
    return fact_new(&spec_image_type, i);
}

const char *spec_image_of(const struct spec_image *i)
{
    return i != NULL ? i->image : ESTUARY_TARGET_IMAGE;
}
