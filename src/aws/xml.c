/* XML by expat, into a small tree. See xml.h. */
#include "aws/xml.h"

#include <expat.h>
#include <string.h>

#include "core/mem.h"
#include "core/text.h"

#define DEPTH_MAX 64
#define NODES_MAX ((size_t)200000)

struct builder {
    XML_Parser parser;
    struct xml_node *root;
    struct xml_node *open[DEPTH_MAX];
    struct text data[DEPTH_MAX];
    size_t depth;
    size_t nodes;
    const char *refused; /* why, when we stopped ourselves */
};

static void stop(struct builder *b, const char *why)
{
    b->refused = why;
    XML_StopParser(b->parser, XML_FALSE);
}

static void start_element(void *ctx, const XML_Char *name, const XML_Char **attributes)
{
    struct builder *b = ctx;
    (void)attributes;
    if (b->depth == DEPTH_MAX || ++b->nodes > NODES_MAX) {
        stop(b, b->depth == DEPTH_MAX ? "nested too deep" : "too many elements");
        return;
    }
    struct xml_node *n = xcalloc(1, sizeof(*n));
    const char *colon = strrchr(name, ':');
    n->name = xstrdup(colon != NULL ? colon + 1 : name);
    if (b->depth > 0) {
        struct xml_node *parent = b->open[b->depth - 1];
        size_t n_children = parent->count;
        if ((n_children & (n_children - 1)) == 0) /* room for twice as many at each power of two */
            parent->children = xrealloc(parent->children, n_children > 0 ? 2 * n_children : 1,
                                        sizeof(*parent->children));
        parent->children[parent->count++] = n;
    } else {
        b->root = n;
    }
    b->data[b->depth] = TEXT_INIT;
    b->open[b->depth++] = n;
}

static void end_element(void *ctx, const XML_Char *name)
{
    struct builder *b = ctx;
    (void)name;
    b->depth--;
    b->open[b->depth]->text = text_take(&b->data[b->depth]);
}

static void character_data(void *ctx, const XML_Char *s, int n)
{
    struct builder *b = ctx;
    if (b->depth > 0)
        text_addn(&b->data[b->depth - 1], s, (size_t)n);
}

/* A document type could define entities: AWS sends none. */
static void start_doctype(void *ctx, const XML_Char *name, const XML_Char *system,
                          const XML_Char *public, int internal)
{
    (void)name;
    (void)system;
    (void)public;
    (void)internal;
    stop(ctx, "it has a document type");
}

struct xml_node *xml_parse(const char *bytes, size_t n, const char *name, struct problem *err)
{
    struct builder b = {.parser = XML_ParserCreate("UTF-8")};
    if (b.parser == NULL)
        mem_exhausted();
    XML_SetUserData(b.parser, &b);
    XML_SetElementHandler(b.parser, start_element, end_element);
    XML_SetCharacterDataHandler(b.parser, character_data);
    XML_SetStartDoctypeDeclHandler(b.parser, start_doctype);
    bool whole = n <= (size_t)TEXT_LIMIT_DEFAULT &&
                 XML_Parse(b.parser, bytes, (int)n, XML_TRUE) == XML_STATUS_OK;
    if (!whole) {
        const char *why = b.refused != NULL ? b.refused
                          : n > (size_t)TEXT_LIMIT_DEFAULT
                              ? "it is too long"
                              : XML_ErrorString(XML_GetErrorCode(b.parser));
        problem_fail(err, PROBLEM_PROTOCOL, "xml", "%s is not the XML it should be", name);
        problem_why(err, "line %lu: %s", XML_GetCurrentLineNumber(b.parser), why);
        for (size_t i = 0; i < b.depth; i++)
            text_release(&b.data[i]);
        xml_free(b.root);
        b.root = NULL;
    }
    XML_ParserFree(b.parser);
    return b.root;
}

void xml_free(struct xml_node *n)
{
    if (n == NULL)
        return;
    for (size_t i = 0; i < n->count; i++)
        xml_free(n->children[i]); /* at most DEPTH_MAX deep */
    xfree(n->children);
    xfree(n->name);
    xfree(n->text);
    xfree(n);
}

const struct xml_node *xml_find(const struct xml_node *n, const char *path)
{
    while (n != NULL && *path != '\0') {
        size_t len = strcspn(path, "/");
        const struct xml_node *found = NULL;
        for (size_t i = 0; i < n->count && found == NULL; i++)
            if (strlen(n->children[i]->name) == len &&
                strncmp(n->children[i]->name, path, len) == 0)
                found = n->children[i];
        n = found;
        path += len + (path[len] == '/');
    }
    return n;
}

const char *xml_text(const struct xml_node *n, const char *path)
{
    const struct xml_node *found = xml_find(n, path);
    return found != NULL ? found->text : NULL;
}
