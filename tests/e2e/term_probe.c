/* A small full-screen program for test_ui_term.py: one text field and the last events, on the real
 * terminal layer. It stands for the wizard where the terminal's own promises are tested: what the
 * terminal looks like after every kind of end, what arrives of keys and pastes, what is drawn.
 *
 * term_probe FILE: at an orderly end it writes why it ended and the field's text to FILE.
 * Keys: Ctrl-C quits, Ctrl-Z suspends, Ctrl-L redraws, Ctrl-Y copies the field, F2 shows clusters,
 * F5 aborts, F6 writes to nowhere, F7 runs out of memory, F8 overflows the stack, F9 calls exit, F3
 * and F4 do as F5 and F7 on another thread. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "ui/edit.h"
#include "ui/term.h"

enum { LINES_KEPT = 4 };

struct probe {
    struct terminal *term;
    struct canvas canvas;
    struct edit edit;
    char *lines[LINES_KEPT]; /* newest first */
    bool clusters;
    int draws;
};

static void say(struct probe *p, char *line)
{
    xfree(p->lines[LINES_KEPT - 1]);
    memmove(&p->lines[1], &p->lines[0], (LINES_KEPT - 1) * sizeof(p->lines[0]));
    p->lines[0] = line;
}

static void draw(struct probe *p)
{
    struct canvas *c = &p->canvas;
    canvas_resize(c, term_rows(p->term), term_cols(p->term));
    struct rect all = canvas_rect(c),
                inner = rect_cols(rect_rows(all, 1, c->rows - 2), 1, c->cols - 2);
    canvas_box(c, all, ROLE_BORDER);
    canvas_putf(c, all, 0, 2, ROLE_TITLE, "probe %dx%d %s", c->cols, c->rows,
                term_scheme(p->term) == SCHEME_MONO ? "mono" : "colours");
    edit_draw(&p->edit, c, rect_rows(inner, 0, 1), &(struct edit_look){.focused = true});
    for (int i = 0; i < LINES_KEPT && p->lines[i] != NULL; i++)
        canvas_put_elided(c, inner, 1 + i, 0, ROLE_TEXT, p->lines[i]);
    if (p->clusters)
        canvas_put(c, inner, 6, 0, ROLE_PASS,
                   "✓|作|😀|e\xCC\x81|👩‍👩‍👧|⚠️|🇩🇪|…");
    term_draw(p->term, c);
}

static void *elsewhere(void *exhausted)
{
    if (exhausted != NULL)
        mem_exhausted();
    abort();
}

static void crash(const struct key *k)
{
    pthread_t thread;
    static volatile uintptr_t nowhere =
        16; /* not NULL, which a sanitizer would see before the fault */
    switch ((int)k->code) {
    case K_F(3):
    case K_F(4):
        pthread_create(&thread, NULL, elsewhere, k->code == K_F(4) ? &thread : NULL);
        pthread_join(thread, NULL);
        break;
    case K_F(5):
        abort();
    case K_F(6):
        *(volatile char *)nowhere = 1;
        break;
    case K_F(7):
        mem_exhausted();
    case K_F(9):
        exit(9);
    }
}

static volatile bool bottomless = true;

static int deep(int n)
{
    volatile char room[4096];
    room[n % 4096] = (char)n;
    return bottomless ? deep(n + 1) + room[n % 4096] : n;
}

static bool key(struct probe *p, const struct key *k)
{
    if (edit_key(&p->edit, k) != UI_IGNORED && k->code != K_PASTE)
        return true;
    if (k->code == K_PASTE)
        say(p, xasprintf("paste %zu bytes%s", k->paste_len, k->paste_cut ? " cut" : ""));
    else
        say(p, xasprintf("key %s", key_label(k)));
    crash(k);
    if (k->code == K_F(8))
        say(p, xasprintf("%d", deep(0)));
    p->clusters = p->clusters || k->code == K_F(2);
    if (k->code == K_CTRL_Z)
        term_suspend(p->term);
    else if (k->code == K_CTRL_L)
        term_redraw(p->term);
    else if (k->code == K_CTRL_Y)
        term_copy(p->term, p->edit.s, p->edit.len, NULL);
    return k->code != K_CTRL_C;
}

/* Until the end; returns the exit code and the reason in *why. */
static int loop(struct probe *p, const char **why)
{
    int fds[2];
    term_fds(p->term, fds);
    for (;;) {
        enum term_event event;
        struct key k;
        while ((event = term_read(p->term, &k)) == TERM_KEY) {
            bool on = key(p, &k);
            key_release(&k);
            if (!on) {
                *why = "quit";
                return 0;
            }
        }
        if (event != TERM_NONE) {
            *why = event == TERM_EOF ? "eof" : "signal";
            return 128 + (event == TERM_EOF ? SIGHUP : term_signal(p->term));
        }
        draw(p);
        struct pollfd polled[2] = {{.fd = fds[0], .events = POLLIN},
                                   {.fd = fds[1], .events = POLLIN}};
        poll(polled, 2, term_timeout(p->term));
    }
}

static void save(const char *path, const struct probe *p, const char *why)
{
    FILE *f = fopen(path, "w");
    if (f == NULL)
        return;
    fprintf(f, "%s\n%s\n", why, p->edit.s);
    fclose(f);
}

int main(int argc, char **argv)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct probe p = {.canvas = CANVAS_INIT};
    const char *why = NULL;
    theme_set_locale();
    p.term = term_open(STDIN_FILENO, STDOUT_FILENO, false, &err);
    if (p.term == NULL) {
        fprintf(stderr, "not usable: %s; %s\n", err.what, err.fix);
        return 3;
    }
    edit_init(&p.edit, EDIT_TEXT);
    int code = loop(&p, &why);
    if (argc > 1)
        save(argv[1], &p, why);
    term_close(p.term);
    edit_release(&p.edit);
    canvas_release(&p.canvas);
    for (int i = 0; i < LINES_KEPT; i++)
        xfree(p.lines[i]);
    return code;
}
