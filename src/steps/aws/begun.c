/* When the AWS steps begin. See begun.h. */
#include "steps/aws/begun.h"

#include <string.h>

#include "aws/credentials.h"
#include "core/mem.h"
#include "core/snapshot_make.h"

static bool of_aws(const char *id)
{
    static const char *const steps[] = {"emr.", "bucket.", "iam."};
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        if (strncmp(id, steps[i], strlen(steps[i])) == 0)
            return true;
    return false;
}

bool aws_begun(const struct snapshot *s)
{
    const struct rows *rows = snapshot_rows(s);
    for (size_t i = 0; i < rows->field_count; i++)
        if (of_aws(rows->fields[i]->id) && snapshot_origin(s, (int)i) > ORIGIN_DEFAULT)
            return true;
    struct aws_credentials c = {0};
    bool at_hand = aws_credentials_load("", &c, NULL) == 0;
    aws_credentials_release(&c);
    return at_hand;
}
