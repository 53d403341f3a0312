/* Insides of the step emr, shared by the files of this folder only: its rows, its facts and its
 * plan. */
#ifndef SLUICE_STEPS_EMR_EMR_H
#define SLUICE_STEPS_EMR_EMR_H

#include "aws/emr.h"
#include "core/check.h"
#include "core/field.h"
#include "core/step.h"
#include "steps/aws/common.h"

/* What a row must list in `reads` to call AWS as the operator (aws_here_open). */
#define READS_AWS "?emr.profile", "emr.region"

/* Facts; an id differs from every field's, since both are read by id. */
#define FACT_IDENTITY "emr.identity" /* struct aws_identity */
#define FACT_LIST "emr.list"         /* struct emr_applications: all that live in the region */
#define FACT_CHOSEN "emr.chosen"     /* struct emr_application: the one that is answered */
#define FACT_NETWORK "emr.network"   /* struct ec2_network */

extern const struct fact_type emr_list_type;
extern const struct fact_type emr_chosen_type;
/* Take the content of what is given (left empty); one reference to be given on. */
struct fact *emr_list_fact(struct emr_applications *a);
struct fact *emr_chosen_fact(struct emr_application *a);
void emr_hash_names(struct hasher *h, const struct aws_names *n);

#define EMR_RELEASE "emr-7.12.0" /* the one Estuary's jobs are proved with */
#define EMR_RELEASE_BEST 7012
/* Older ones bring an Iceberg that cannot use the keys a catalog hands out: up to 7.9 "Target host
 * is not specified", 7.10 is answered with 401 (estuary/connectors #4776). */
#define EMR_RELEASE_LEAST 7011
/* Major * 1000 + minor of "emr-7.12.0" (7012) or "emr-spark-8.0.0" (8000); -1 for other forms. */
int emr_release_number(const char *label);
/* NULL, or why Estuary cannot use an application for its form: a few words. */
const char *emr_refusal(const struct emr_application *a);

#define EMR_IDLE_MINUTES 15 /* as EMR's own default */
/* What a driver or an executor takes unless a job says otherwise. */
#define EMR_WORKER_VCPU 4
#define EMR_WORKER_GB 16

extern const struct field *const emr_fields[];
extern const struct picker emr_subnet_picker, emr_group_picker; /* picker.c */
extern const struct check *const emr_checks[];
/* surveys.c */
extern const struct check emr_check_identity, emr_check_applications, emr_check_chosen,
    emr_check_network;
/* verdict_application.c */
extern const struct check emr_check_region, emr_check_application, emr_check_release,
    emr_check_architecture, emr_check_auto_start, emr_check_auto_stop, emr_check_capacity;
/* verdict_network.c */
extern const struct check emr_check_one_vpc, emr_check_subnets_out, emr_check_zones,
    emr_check_addresses, emr_check_groups_open, emr_check_groups_out;

/* plan.c */
void emr_plan(const struct snapshot *s, struct plan *out);
/* changes.c */
extern const struct change_kind emr_kind_application;
extern const struct change_kind *const emr_kinds[];
#endif
