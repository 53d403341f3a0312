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
# Step by step, so that those with the longest time begin first; the field that is typed in is in the last step.
HANG = {
    "IAM": ("iam.found",),
    "Buckets": ("bucket.found", "bucket.region", "bucket.table"),
    "EMR": ("emr.network", "emr.applications", "emr.identity"),
    "OAuth": ("oauth.config", "oauth.login", "oauth.reach"),
    "PostgreSQL": ("postgres.published", "postgres.select", "postgres.replication_connection", "postgres.connect_capture",
                   "postgres.found", "postgres.connect_admin"),
}
ALL = sum(len(checks) for checks in HANG.values())
OWN_THREADS = 2     # of sluice at rest: keys and drawing, and the network
FIELD = "Slot"
TRIES = 4
Checks = dict[str, tuple[str, int]]   # by id: title, and which one of its step's it is
LONGEST = 40        # more than ever is in htop's filter


def measure(world: World, rounds: int, keys: int) -> list[Figure]:
    took: dict[str, list[float]] = {"ours": [], "peer": []}
    links = {"catalog": Link((world.catalog.host, world.catalog.port)), "aws": Link(("127.0.0.1", world.aws.port)),
             "postgres": Link((world.postgres.host, world.postgres.port))}
    for link in links.values():
        link.start()
    try:
        wizard, checks = _wizard(world, links)
        with wizard as ours, _htop(world.folder) as peer:
            for number in range(rounds):
                first, wanted = growing_and_shrinking(keys, seed=number)
                took["ours"] += _while_all_hang(ours, checks, list(links.values()), first, wanted, number)
                peer.send(b"\x7f" * LONGEST + first.encode())
                peer.wait_for(re.compile(rf"Filter: {first}$", re.M))
                took["peer"] += key_to_paint(peer, wanted, _in_filter, number)
    finally:
        for link in links.values():
            link.stop()
    return _figures(took)


def _figures(took: dict[str, list[float]]) -> list[Figure]:
    runs = {who: [each * 1000 for each in seconds] for who, seconds in took.items()}

    def at(part: float, goal: float | None) -> Figure:
        return Figure(f"key to paint p{part * 100:.0f} while {ALL} checks hang, beside htop", "ms",
                      percentile(runs["ours"], part), percentile(runs["peer"], part), goal,
                      f"{len(runs['ours'])} keys each", runs if goal else {})

    return [at(0.5, None), at(0.99, 1.0)]


def _wizard(world: World, links: dict[str, Link]) -> tuple[Wizard, Checks]:
    """Everything applied headless, through the links, then the screens."""
    told, folder = world.aws_told(), world.folder / "references"
    prefilled.write(folder, world.catalog, world.postgres, aws=told)
    values = prefilled.answers(folder, world.catalog, world.postgres, aws=told)
    values["oauth"]["url"] = f"https://{links['catalog'].host}:{links['catalog'].port}/iceberg"
    values["postgres"]["port"] = links["postgres"].port
    world.aws.reset()
    world.aws.make_bucket(prefilled.LAKE)
    made = world.sluice(values, {"SLUICE_CA_FILE": str(world.catalog.ca_file), **told.environment,
                                 "AWS_ENDPOINT_URL": f"https://127.0.0.1:{links['aws'].port}"})
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


def _prove(w: Wizard, checks: Checks) -> None:
    """Every check that will hang has passed: what waits for it may run."""
    for step in reversed(HANG):
        w.to_step(step)
        w.press("F5")
        for check in HANG[step]:
            _point_at(w, checks, check)
            w.wait_for(lambda w: (w.check(checks[check][0]) or "?")[0] == "✓")  # noqa: B023


def _hang(w: Wizard, checks: Checks) -> None:
    for step, wanted in HANG.items():
        w.to_step(step)
        for check in wanted:
            _point_at(w, checks, check)
            w.press("Space")
    w.settle()


def _point_at(w: Wizard, checks: Checks, check: str) -> None:
    """With as few waits as can be: the first of them must not end before the last begins."""
    title, row = checks[check]
    if "Tab form" not in w.footer():
        w.press("Tab")
        w.wait_for(lambda w: "Tab form" in w.footer())
    w.press("Home", *["Down"] * row)
    w.wait_for(lambda w: re.match(rf" *\S {titled(title)}", w.current()))


def _while_all_hang(w: Wizard, checks: Checks, links: list[Link], first: str, keys: list[tuple[bytes, str]],
                    seed: int) -> list[float]:
    """Checks have deadlines: on a busy machine the first may have given up before the last key. Then all is done again."""
    for _ in range(TRIES):
        _prove(w, checks)
        for link in links:
            link.hold()
        _hang(w, checks)
        w.go_to(FIELD)
        w.clear()
        w.type(first)
        took = key_to_paint(w, keys, _in_field, seed)
        hanging = len(os.listdir(f"/proc/{w.pid}/task")) - OWN_THREADS
        for link in links:
            link.release()
        if hanging >= ALL:
            return took
    raise AssertionError(f"only {hanging} of {ALL} checks still hang when the last key is typed\n{w.picture()}")


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
