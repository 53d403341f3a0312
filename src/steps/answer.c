/* Judging typed answers. */
#include "steps/answer.h"

#include <string.h>

#include "core/mem.h"

static int blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

char *answer_trim(const char *typed)
{
    size_t n = strlen(typed);
    while (n > 0 && blank(typed[n - 1]))
        n--;
    size_t start = 0;
    while (start < n && blank(typed[start]))
        start++;
    return xstrndup(typed + start, n - start);
}

int answer_line(const char *text, struct problem *err)
{
    for (const unsigned char *p = (const unsigned char *)text; *p != 0; p++)
        if (*p < 0x20 || *p == 0x7f) {
            problem_fail(err, PROBLEM_INPUT, "control character",
                         "there is a line end or another control character in it");
            problem_fix(err, WHO_YOU, "Copy it once more, only the value itself.");
            return -1;
        }
    return 0;
}

int answer_word(const char *text, struct problem *err)
{
    if (answer_line(text, err) != 0)
        return -1;
    size_t n = strlen(text);
    const char *wrong = NULL;
    if (strpbrk(text, " \t") != NULL)
        wrong = "there is a blank in it";
    else if (n >= 2 && (text[0] == '"' || text[0] == '\'') && text[n - 1] == text[0])
        wrong = "it stands in quotes";
    else if (n >= 2 && text[0] == '<' && text[n - 1] == '>')
        wrong = "this is a placeholder of the guide, not a value";
    if (wrong == NULL)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "form", "%s", wrong);
    problem_fix(err, WHO_YOU, "Copy it once more, only the value itself.");
    return -1;
}
