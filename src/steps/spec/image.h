/* The image of the materialization's connector that the control plane lists, as a fact. */
#ifndef SLUICE_STEPS_SPEC_IMAGE_H
#define SLUICE_STEPS_SPEC_IMAGE_H

#include "core/fact.h"

#define SPEC_FACT_IMAGE "materialization.image"

extern const struct fact_type spec_image_type; /* struct spec_image */
struct spec_image {
    char *image; /* with its tag */
};
struct fact *spec_image_fact(const char *image);
/* Its image; of NULL the one that Bauplan names. Borrowed. */
const char *spec_image_of(const struct spec_image *i);
#endif
