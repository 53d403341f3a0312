"""From a key to its picture while sixteen checks hang, beside htop's filter line.

All services are reached through links that can be held. Everything is set up and proved; then the links are held, and
each of sixteen checks is asked for by itself, so that all of them hang at once. Afterwards the links are let go: nothing
was lost, everything is proved again, and the next round can begin."""

import os
import re
from pathlib import Path

from tests.e2e.term import Wizard, titled
from tests.e2e.terminal import Terminal
from tests.services import answers as prefilled

from .figures import Figure, percentile
from .link import Link
from .screens import growing_and_shrinking, key_to_paint
from .world import World

PEER = "/usr/bin/htop"
ORDER = ("OAuth", "PostgreSQL", "EMR", "Buckets", "IAM")
# In the order in which they are asked for: what waits for another one comes before it, and last is the step whose field is
# typed in.
HANG = {
    "IAM": ("iam.found",),
    "Buckets": ("bucket.found", "bucket.region", "bucket.table"),
    "EMR": ("emr.network", "emr.applications", "emr.identity"),
    "OAuth": ("oauth.config", "oauth.login", "oauth.reach"),
    "PostgreSQL": ("postgres.select", "postgres.published", "postgres.replication_connection", "postgres.connect_capture",
                   "postgres.found", "postgres.connect_admin"),
}
ALL = sum(len(checks) for checks in HANG.values())
OWN_THREADS = 2     # of sluice at rest: keys and drawing, and the network
FIELD = "Slot"
BATCH = 25          # keys: about a second
BATCHES = 5         # at most, while the same checks hang
LONGEST = 40        # more than ever is in htop's filter
Checks = dict[str, tuple[str, int]]   # by id: title, and which one of its step's it is
Keys = list[tuple[bytes, str]]


def measure(world: World, count: int) -> list[Figure]:
    took: dict[str, list[float]] = {"ours": [], "peer": []}
    first, keys = growing_and_shrinking(count)
    links = [Link((world.catalog.host, world.catalog.port)), Link((world.postgres.host, world.postgres.port)),
             Link(("127.0.0.1", world.aws.port))]
    for link in links:
        link.start()
    try:
        wizard, checks = _wizard(world, *links)
        with wizard as ours, _htop(world.folder) as peer:
            tries = 0
            while len(took["ours"]) < count:
                tries += 1
                assert tries <= 3 + count // BATCH, f"{ALL} checks never hang for as long as {BATCH} keys take"
                took["ours"] += _while_all_hang(ours, checks, links, first, keys, len(took["ours"]))
                while len(took["peer"]) < len(took["ours"]):
                    took["peer"] += _in_htop(peer, first, keys[:len(took["ours"])], len(took["peer"]))
    finally:
        for link in links:
            link.stop()
    return _figures(took)


def _figures(took: dict[str, list[float]]) -> list[Figure]:
    runs = {who: [each * 1000 for each in seconds] for who, seconds in took.items()}

    def at(part: float, goal: float | None) -> Figure:
        return Figure(f"key to paint p{part * 100:.0f} while {ALL} checks hang, beside htop", "ms",
                      percentile(runs["ours"], part), percentile(runs["peer"], part), goal,
                      f"{len(runs['ours'])} keys each", runs if goal else {})

    return [at(0.5, None), at(0.99, 1.0)]


def _wizard(world: World, catalog: Link, postgres: Link, aws: Link) -> tuple[Wizard, Checks]:
    """Everything applied headless, through the links, then the screens."""
    told, folder = world.aws_told(), world.folder / "references"
    prefilled.write(folder, world.catalog, world.postgres, aws=told)
    values = prefilled.answers(folder, world.catalog, world.postgres, aws=told)
    values["oauth"]["url"] = f"https://{catalog.host}:{catalog.port}/iceberg"
    values["postgres"]["port"] = postgres.port
    world.aws.reset()
    world.aws.make_bucket(prefilled.LAKE)
    made = world.sluice(values, {"SLUICE_CA_FILE": str(world.catalog.ca_file), **told.environment,
                                 "AWS_ENDPOINT_URL": f"https://127.0.0.1:{aws.port}"})
    made.run("apply", "--yes").ends(0)
    rows: dict[str, int] = {}
    checks: Checks = {}
    for each in made.run("check", "--json").json["checks"]:
        checks[each["id"]] = each["title"], rows.setdefault(each["step"], 0)
        rows[each["step"]] += 1
    gone: dict[str, str | None] = {name: None for name in os.environ}
    wizard = Wizard(made.sluice.argv(*made.options), env={**gone, **made.sluice.env}, cwd=made.sluice.folder)
    wizard.wait_for("Checks")
    return wizard, checks


def _go(w: Wizard, step: str) -> None:
    """To a step; one further on without going back first."""
    here = next((at for at, title in enumerate(ORDER) if _is_at(w, title)), None)
    if here is None or here > ORDER.index(step):
        w.to_step(step)
        return
    for title in ORDER[here + 1:ORDER.index(step) + 1]:
        _to_checks(w)
        w.press("n")
        w.wait_step(title)


def _is_at(w: Wizard, title: str) -> bool:
    try:
        w.wait_for(re.compile(rf"^ .*[●*] *(\d\w?)? *{title}\b", re.M), 0)
        return True
    except AssertionError:
        return False


def _to_checks(w: Wizard) -> None:
    if "Tab form" not in w.footer():
        w.press("Tab")
        w.wait_for(lambda w: "Tab form" in w.footer())


def _prove(w: Wizard, checks: Checks) -> None:
    """Every check that will hang has passed: what waits for it may run."""
    for step in ORDER:
        _go(w, step)
        w.press("F5")
        for check in HANG[step]:
            _point_at(w, checks, check)
            w.wait_for(lambda w: (w.check(checks[check][0]) or "?")[0] == "✓")  # noqa: B023
    w.wait_for(lambda w: _hanging(w) == 0)


def _hanging(w: Wizard) -> int:
    """A check that runs has a thread."""
    return len(os.listdir(f"/proc/{w.pid}/task")) - OWN_THREADS


def _hang(w: Wizard, checks: Checks) -> None:
    """All are asked for; then the field is the current one."""
    for step, wanted in HANG.items():
        _go(w, step)
        if step == "PostgreSQL":
            w.go_to(FIELD)    # before they run: it takes a while
        for check in wanted:
            _point_at(w, checks, check)
            w.press("Space")
    w.press("Tab")
    w.wait_for(lambda w: w.at(FIELD))


def _point_at(w: Wizard, checks: Checks, check: str) -> None:
    """With as few waits as can be: the first of them must not end before the last begins."""
    title, row = checks[check]
    _to_checks(w)
    w.press("Home", *["Down"] * row)
    w.wait_for(lambda w: re.match(rf" *\S {titled(title)}", w.current()))


def _while_all_hang(w: Wizard, checks: Checks, links: list[Link], text: str, keys: Keys, begin: int) -> list[float]:
    """Checks have deadlines, so a few batches of keys at most; a batch at whose end one has given up does not count."""
    took: list[float] = []
    _prove(w, checks)
    for link in links:
        link.hold()
    _hang(w, checks)
    for at in range(begin, min(len(keys), begin + BATCH * BATCHES), BATCH):
        batch = keys[at:at + BATCH]
        w.clear()
        w.type(_before(text, keys, at))
        found = key_to_paint(w, batch, _in_field, at)
        if _hanging(w) < ALL:
            break
        took += found
    for link in links:
        link.release()
    return took


def _in_htop(t: Terminal, text: str, keys: Keys, at: int) -> list[float]:
    t.send(b"\x7f" * LONGEST + _before(text, keys, at).encode())
    t.wait_for(re.compile(rf"Filter: {_before(text, keys, at)}$", re.M))
    return key_to_paint(t, keys[at:at + BATCH], _in_filter, at)


def _before(text: str, keys: Keys, at: int) -> str:
    return keys[at - 1][1] if at else text


def _in_field(terminal: Terminal) -> str:
    assert isinstance(terminal, Wizard)
    return (terminal.value_of(FIELD) or "").split(" ")[0]   # a sign that there is more below stands at the end of the line


def _in_filter(terminal: Terminal) -> str | None:
    found = re.search(r"Filter: *(\S*)", terminal.line(terminal.screen.lines - 1))
    return found[1] if found else None


def _htop(folder: Path) -> Terminal:
    gone: dict[str, str | None] = {name: None for name in os.environ}
    terminal = Terminal([PEER], env={**gone, "HOME": str(folder), "HTOPRC": str(folder / "htoprc"),
                                     "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"})
    terminal.wait_for("F10")
    terminal.press("F4")
    terminal.wait_for("Filter:")
    return terminal
