"""kill -9 at the worst moments: around the rename of a save, between any two changes, while the server is waited for.
Afterwards the state is whole, nothing but an admin's password is asked again, and nothing is made twice."""

import os
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.e2e import stands
from tests.services import places
from tests.services.process import ServiceError

SOURCE = Path(__file__).with_name("kill_at.c")
STATE, SECRETS = "sluice.yaml", "sluice.secrets"
PLACES = 16        # saves of one apply: two or three for each of five changes, and the first and last
GIVES_UP = 30.0    # seconds after which the server has let go of everything, told by nobody


@pytest.fixture(scope="session")
def preload() -> str:
    target = places.BUILD / "kill_at.so"
    if not target.exists() or target.stat().st_mtime < SOURCE.stat().st_mtime:
        part = target.with_name(f"{target.name}.{os.getpid()}")
        done = subprocess.run(["gcc", "-std=c17", "-Wall", "-Wextra", "-O1", "-shared", "-fPIC", "-o", part, SOURCE, "-ldl"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise ServiceError(f"{SOURCE} does not compile:\n{done.stderr}")
        part.rename(target)
    return str(target)


@pytest.fixture
def kill_at(preload):
    """kill_at("after", 3, STATE) -> environment in which the program dies right after the third save of that file."""
    def make(side: str, number: int, name: str = STATE, **more: str) -> dict[str, str]:
        options = f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0".lstrip(":")
        return {"LD_PRELOAD": preload, "SLUICE_TEST_KILL": f"{side}:{number}:{name}", "ASAN_OPTIONS": options, **more}

    return make


def count_saves(ready, kill_at, *command: object) -> Counter:
    """How often each file is put in its place by a command that is not killed."""
    log = ready.sluice.folder / "renames"
    log.unlink(missing_ok=True)
    ready.sluice.run(*command, env=kill_at("never", 0, SLUICE_TEST_RENAMES=str(log)))
    return Counter(log.read_text().split())


def resume(ready) -> tuple[object, ...]:
    """What a person has to give after a crash: the passphrase and the admin's password, nothing else."""
    return ("--passphrase-file", ready.passphrase_file,
            "--set", f"postgres.admin_password=file:{ready.folder}/admin-password")


def started(ready):
    """A set-up with its answers in the state, and nothing applied."""
    ready.sluice.run("check", *ready.args).ends(2)
    ready.answers.unlink()


def assert_ends_green(ready) -> None:
    """A second run carries on: everything stands once, each change has one entry, and a third run finds nothing to do."""
    given = resume(ready) if ready.sluice.state.exists() else ready.args    # it died before anything was saved
    done = ready.sluice.run("apply", "--yes", "--json", *given).ends(0)    # also proves what it changed
    stands.assert_green(ready.shop)
    state = stands.load(ready.sluice.state)
    entries = Counter(entry["change"] for entry in state["journal"])
    assert len(entries) == 5 and set(entries.values()) == {1}, entries
    # What was made though its answer was lost is not planned again: its entry may stay an intent.
    assert {entry["status"] for entry in state["journal"]} <= {"ready", "intended"}
    assert not any(entry.get("was_there") for entry in state["journal"] if entry["kind"] != "postgres.repair"), \
        "what the killed run made is ours"
    roles = ready.shop.query("SELECT rolname::text FROM pg_roles WHERE rolname ~ '^flow'")
    assert roles == [("flow_shop",)]
    if not done.json["changes"]:
        ready.sluice.run("check", "--deep", "postgres", *given).ends(0)


def pytest_generate_tests(metafunc):
    """Every place of the run by --all; else each place once, before and after it in turn."""
    if "place" in metafunc.fixturenames:
        every = [(side, number) for number in range(1, PLACES + 1) for side in ("before", "after")]
        short = [(("before", "after")[number % 2], number) for number in range(1, PLACES + 1)]
        chosen = every if metafunc.config.getoption("--all") else short
        metafunc.parametrize("place", chosen, ids=[f"{side}-{number}" for side, number in chosen])


def test_number_of_places(ready, kill_at):
    """The places below are all there are: an apply saves the state so often, the secrets once."""
    saves = count_saves(ready, kill_at, "apply", "--yes", *ready.args)
    assert 11 <= saves[STATE] <= PLACES, saves
    assert saves[SECRETS] >= 1, saves


def test_between_any_two_changes(ready, kill_at, place):
    """Dies around the n-th save of the state during apply: before or after an intent or a result is written."""
    side, number = place
    done = ready.sluice.run("apply", "--yes", *ready.args, env=kill_at(side, number))
    if done.code == 0:
        return    # the run has fewer saves than that
    done.ends(-signal.SIGKILL)
    assert (side, number) == ("before", 1) or stands.load(ready.sluice.state)["answers"]["postgres"]["tables"]
    stands.assert_no_slot(ready.shop)
    assert_ends_green(ready)


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("number", [1, 2])
def test_around_the_save_of_a_made_secret(ready, kill_at, side, number):
    """The password of the capture user is on the disk before the user is made with it; whichever it was made with opens
    the database in the end."""
    done = ready.sluice.run("apply", "--yes", *ready.args, env=kill_at(side, number, SECRETS))
    assert done.code in (0, -signal.SIGKILL), str(done)
    assert_ends_green(ready)


@pytest.mark.parametrize("side, kept", [("before", "first"), ("after", "second")])
def test_around_the_rename_of_a_save(sluice, wizard, kill_at, side, kept):
    """The old state or the new one, never half of it; and the copy before it is whole as well."""
    w = wizard()
    w.to_step("Start")
    w.fill("Name", "first")
    w.quit()
    armed = sluice.folder / "armed"
    w = wizard(env=kill_at(side, 1, SLUICE_TEST_ARMED=str(armed)))
    w.to_step("Start")
    w.go_to("Name")
    w.wait_for(lambda w: "running" not in w.picture())
    w.pump(1.0)    # results of the first checks are saved by now
    armed.touch()
    saved = sluice.bytes()
    w.clear()
    w.type("second")
    w.press("Enter")
    assert w.wait() == -signal.SIGKILL
    assert stands.load(sluice.state)["answers"]["start"]["name"] == kept
    assert side == "after" or sluice.bytes() == saved
    assert stands.load(sluice.folder / "sluice.yaml.previous")["answers"]["start"]["name"] == "first"
    w = wizard()
    w.to_step("Start")
    assert w.value_of("Name") == kept
    w.fill("Name", "third")
    w.quit()
    assert stands.load(sluice.state)["answers"]["start"]["name"] == "third"


def test_killed_in_the_screens_while_applying(ready, wizard, kill_at):
    """As a person: it dies in mid-apply. Resumed, it asks for the passphrase and the admin's password, and goes on."""
    started(ready)
    passphrase = ready.passphrase_file.read_text().strip()

    def resumed(**more):
        w = wizard(ready="Unlock secrets", **more)
        w.type(passphrase)
        w.press("Enter")
        w.wait_gone("Unlock secrets")
        w.to_step("PostgreSQL")
        return w

    forget_references(ready)
    w = resumed(env=kill_at("after", 6))
    for label in ("Host", "Database", "Capture user", "Tables"):
        assert w.value_of(label), w.picture()
    w.fill("Admin password", ready.shop.server.admin_password)
    w.wait_check("connects as admin", "✓")
    w.press("F2")
    w.wait_for("5 changes")
    w.press("a")
    w.wait_for("Type apply and Enter")
    w.type("apply")
    w.press("Enter")
    assert w.wait() == -signal.SIGKILL
    w = resumed()
    w.fill("Admin password", ready.shop.server.admin_password)
    w.wait_check("connects as admin", "✓")
    w.press("F2")
    w.wait_for("nothing is written yet")
    w.press("a")
    w.wait_for("Type apply and Enter")
    w.type("apply")
    w.press("Enter")
    w.wait_for("finished; Enter goes on")
    w.press("Enter")
    w.wait_check("the capture user logs in", "✓")
    w.quit()
    assert_ends_green(ready)


def forget_references(ready) -> None:
    """As if the secrets had been typed: the client's is in the secrets file, the admin's nowhere."""
    ready.sluice.run("state", "set", "postgres.admin_password", "").ends(0)


def test_killed_while_the_slot_waits(ready):
    """A transaction of the application is open; the temporary slot of the CDC round trip waits for it; sluice is killed.
    The server gives up by itself: no slot that would keep its log for ever, no backend that waits."""
    sluice, shop = ready.sluice, ready.shop
    sluice.run("apply", "--yes", *ready.args).ends(0)
    waits = ("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'walsender' AND wait_event_type = 'Lock'")
    with shop.connect() as application:
        application.autocommit = False
        application.execute("UPDATE orders SET note = note WHERE id = 1")
        process = sluice.start("check", "--deep", "postgres.cdc_round_trip", *ready.args)
        until(lambda: shop.query(waits) == [(1,)], 30, "the slot never waited")
        assert shop.query("SELECT temporary FROM pg_replication_slots") == [(True,)]
        process.kill()
        process.communicate()
        killed = time.monotonic()
        until(lambda: shop.query("SELECT slot_name FROM pg_replication_slots") == [], GIVES_UP, "a slot is left behind")
        until(lambda: shop.query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walsender'") == [], GIVES_UP,
              "a backend is left behind")
        assert time.monotonic() - killed < GIVES_UP
        application.rollback()
    stands.assert_green(shop)


def test_slot_that_waits_is_given_up(ready):
    """The same without a kill: the check ends by itself, names the transaction and who must end it, and leaves no slot."""
    sluice, shop = ready.sluice, ready.shop
    sluice.run("apply", "--yes", *ready.args).ends(0)
    with shop.connect(application_name="nightly-report") as application:
        application.autocommit = False
        application.execute("UPDATE orders SET note = note WHERE id = 1")
        done = sluice.run("check", "--deep", "postgres.cdc_round_trip", "--json", *ready.args)
        check = done.checks["postgres.cdc_round_trip"]
        assert check["status"] in ("failed", "unreachable") and done.code in (1, 4), str(done)
        said = " ".join(filter(None, (check["line"], check["why"], check["fix"], check["evidence"])))
        assert "transaction" in said and check["who"] in ("DBA", "you"), said
        stands.assert_no_slot(shop)
        application.rollback()
    sluice.run("check", "--deep", "postgres.cdc_round_trip", *ready.args).ends(0)


def until(true, seconds: float, otherwise: str) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, otherwise
        time.sleep(0.05)
