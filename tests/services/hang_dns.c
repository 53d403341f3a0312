/* Preloaded into a program under test: getaddrinfo never returns for the names listed in
 * SLUICE_TEST_HANG_DNS (separated by commas; "*" means every name), as with a resolver that is not
 * reachable. Who says that it gives a number (libpq with hostaddr) asks no resolver. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*lookup)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static int listed(const char *name)
{
    const char *list = getenv("SLUICE_TEST_HANG_DNS");
    size_t length = name ? strlen(name) : 0;
    if (!list || length == 0)
        return 0;
    while (*list) {
        size_t entry = strcspn(list, ",");
        if ((entry == 1 && *list == '*') ||
            (entry == length && strncasecmp(list, name, length) == 0))
            return 1;
        list += entry;
        list += *list == ',';
    }
    return 0;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **result)
{
    static lookup next;
    int number = hints && (hints->ai_flags & AI_NUMERICHOST);
    while (!number && listed(name))
        pause();
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "getaddrinfo");
    return next ? next(name, service, hints, result) : EAI_SYSTEM;
}
