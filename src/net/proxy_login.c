/* The login in the proxy's URL. A company's proxy knows its people by their account, and some
 * wrong passwords lock it: so the first request goes alone, and a login that was refused is not
 * sent again. The variable cannot change while the program runs. */
#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/mem.h"
#include "net/net_impl.h"

enum login_state {
    LOGIN_UNTRIED,
    LOGIN_TRYING,
    LOGIN_TRIED, /* and not refused */
    LOGIN_REFUSED
};

struct proxy_login {
    pthread_mutex_t lock; /* for the state, and for what stands in `moved` */
    enum login_state state;
    int moved; /* eventfd, readable once waiting is over: for one of those who wait, or for good */
};

struct proxy_login *proxy_login_new(struct problem *err)
{
    int moved = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (moved < 0) {
        problem_errno(err, errno, "cannot prepare for the proxy");
        return NULL;
    }
    struct proxy_login *l = xcalloc(1, sizeof *l);
    l->moved = moved;
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

void proxy_login_free(struct proxy_login *l)
{
    if (l == NULL)
        return;
    pthread_mutex_destroy(&l->lock);
    close(l->moved);
    xfree(l);
}

/* Takes the turn when it is free. */
static enum login_state look(struct proxy_login *l)
{
    pthread_mutex_lock(&l->lock);
    enum login_state state = l->state;
    if (state == LOGIN_UNTRIED) {
        uint64_t count;
        ssize_t ignored = read(l->moved, &count, sizeof count);
        (void)ignored;
        l->state = LOGIN_TRYING;
    }
    pthread_mutex_unlock(&l->lock);
    return state;
}

enum proxy_turn proxy_login_enter(struct run *run, struct proxy_login *l)
{
    for (;;) {
        switch (look(l)) {
        case LOGIN_UNTRIED:
            return PROXY_FIRST;
        case LOGIN_TRIED:
            return PROXY_GO;
        case LOGIN_REFUSED:
            return PROXY_REFUSED;
        case LOGIN_TRYING:
            break;
        }
        run_pause(run);
        enum net_waited waited = net_wait(run, l->moved, POLLIN, -1);
        run_resume(run);
        if (waited != NET_READY)
            return PROXY_NO_TURN;
    }
}

void proxy_login_leave(struct proxy_login *l, enum proxy_turn turn, enum proxy_said said)
{
    pthread_mutex_lock(&l->lock);
    if (said == PROXY_SAID_NO)
        l->state = LOGIN_REFUSED;
    else if (turn == PROXY_FIRST && l->state == LOGIN_TRYING)
        l->state = said == PROXY_NOT_ASKED ? LOGIN_UNTRIED : LOGIN_TRIED;
    if (turn == PROXY_FIRST) {
        uint64_t one = 1;
        ssize_t ignored = write(l->moved, &one, sizeof one);
        (void)ignored;
    }
    pthread_mutex_unlock(&l->lock);
}
