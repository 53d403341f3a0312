"""Plain mode: the same steps as lines. A script goes through them as a person with a screen reader would; only text is
appended, no secret is shown, and whatever ends it, what was typed is saved."""

import fcntl
import os
import re
import signal
import time

import pytest
import yaml

from tests.e2e.lines import Lines

PASSPHRASE = "correct horse battery"
MACHINE = re.compile(r"(SLUICE|AWS|XDG|LC)_\w+|LANG\w*|\w*_proxy|ACCESSIBLE", re.I)


def load(path):
    return yaml.safe_load(path.read_text())


@pytest.fixture
def plain(sluice):
    """plain("--plain", …, env=…) starts it in a terminal on the state file of `sluice`."""
    opened = []

    def start(*given, env=None, **more):
        gone = {name: None for name in os.environ if MACHINE.fullmatch(name)}
        terminal = Lines(sluice.argv(*given), env={**gone, **sluice.env, **(env or {})}, cwd=sluice.folder, **more)
        opened.append(terminal)
        return terminal

    yield start
    for terminal in opened:
        terminal.__exit__()


def begin(p, name="shop"):
    """Through the first step, secrets in a file."""
    p.answer("Name [", name)
    p.answer("Estuary token", "")
    p.answer("Estuary prefix [", "")
    p.answer("Data plane [", "")
    p.answer("Keep secrets, a number or its word [file]", "1")
    p.answer("What now?", "n")


def log_in(p, catalog, token_uri="v1/oauth/tokens"):
    p.until("step 2 of 9, Bauplan OAuth client. Saved.")
    p.answer("Catalog URL [", catalog.url)
    p.answer("Branch [", catalog.branch)
    p.answer("Warehouse [", "")
    p.answer("Client id [", catalog.client_id)
    p.answer("Client secret (not shown", catalog.client_secret)
    p.answer("New passphrase (not shown", PASSPHRASE)
    p.answer("The same once more", PASSPHRASE + "?")
    p.until("The two differ.")
    p.answer("New passphrase (not shown", PASSPHRASE)
    p.answer("The same once more", PASSPHRASE)
    p.answer("Token URI [", token_uri)


def ends(p, code, secrets=()):
    assert p.wait() == code, p.told()
    p.assert_restored()
    p.assert_only_text()
    for secret in (PASSPHRASE, *secrets):
        assert secret not in p.told()


def test_oauth_to_green_and_resumed(sluice, plain, catalog):
    sluice.env["SLUICE_CA_FILE"] = str(catalog.ca_file)
    p = plain("--plain")
    p.until("sluice: a new pipeline, step 1 of 9, Start. ")
    begin(p)
    log_in(p, catalog, "api/v1/oauth/tokens")
    told = p.answer("Token URI = v1/oauth/tokens was found to work. Take it over?", "y")
    assert "passed: reaches the catalog" in told and "failed: token URI" in told and "Blocks." in told, told
    assert "Do: you: Use" in told
    told = p.answer('The check "branch is writable" writes and removes something', "yes")
    assert re.search(r"Checking\. \d+ passed: token, Spark's form", told)
    told = p.answer("What now?", "d")
    assert "passed: branch is writable" in told and "12 checks: 12 passed." in told
    p.answer("Which check?", "4")
    assert "oauth.token_uri: passed." in p.answer("Which check?", "")
    p.answer("What now?", "q")
    p.until(f"Saved in {sluice.state}.")
    ends(p, 0, [catalog.client_secret])
    state = load(sluice.state)
    assert state["answers"]["oauth"]["client_secret"]["secret"] == "stored"
    assert all(check["status"] in ("passed", "warned", "skipped") for check in state["checks"].values())

    p = plain("--plain")
    p.answer("Passphrase of the secrets file", "wrong")
    p.answer("Passphrase of the secrets file", PASSPHRASE)
    p.until('sluice: pipeline "shop", step 3 of 9, PostgreSQL')
    p.answer("Host [", "")
    p.press("Ctrl-C")
    ends(p, 130, [catalog.client_secret])


def test_end_of_input_saves(sluice, plain):
    p = plain("--plain")
    p.answer("Name [", "half")
    p.until("Estuary token")
    p.press("Ctrl-D")
    p.until("Saved in")
    ends(p, 0)
    assert load(sluice.state)["name"] == "half"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_ends_in_a_hidden_answer_with_the_echo_on(sluice, plain, number):
    p = plain("--plain")
    p.answer("Name [", "half")
    p.until("Estuary token")
    p.send("never-shown")
    p.pump(0.2)
    p.kill(number)
    ends(p, 128 + number, ["never-shown"])
    assert load(sluice.state)["name"] == "half"


def test_a_terminal_that_goes_away(sluice, plain):
    p = plain("--plain")
    p.answer("Name [", "half")
    p.until("Estuary token")
    p.hang_up()
    assert p.wait() == 129
    assert load(sluice.state)["name"] == "half"


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"TERM": None}, {"TERM": "no-such-terminal"}, {"ACCESSIBLE": "1"}])
def test_is_chosen_by_itself(plain, env):
    p = plain(env=env)
    told = p.until("Name [")
    assert ("so everything is asked line by line" in told) == ("TERM" in env), told
    p.press("Ctrl-D")
    ends(p, 0)


def test_in_ascii_where_there_is_no_other_encoding(plain):
    p = plain("--plain", env={"LC_ALL": "C"})
    p.answer("Name [", "shop")
    p.until("Estuary token")
    p.press("Ctrl-D")
    ends(p, 0)
    p.output.decode("ascii")


def test_is_wrapped_at_words_to_the_width(plain):
    p = plain("--plain", cols=50)
    p.until("Name [")
    lines = p.output.decode().splitlines()
    assert max(len(line) for line in lines if "https://" not in line) < 50
    assert any(re.fullmatch(r" *https://\S+", line) for line in lines)    # whole, to be copied
    p.press("Ctrl-D")
    ends(p, 0)


def test_help_faults_and_keeping(sluice, plain):
    p = plain("--plain")
    p.answer("Name [", "?")
    assert "SQL user flow_<name>" in p.answer("Name [", "Not A Name")
    told = p.answer("Name [", "")    # kept all the same: one can always go on
    assert "small letters" in told and "Do: you: Choose a short name" in told
    p.answer("Estuary token", "env:NO_SUCH_VARIABLE")
    assert "NO_SUCH_VARIABLE" in p.answer("Estuary token", "")
    p.answer("Estuary prefix [", "acmeCo")
    p.answer("Data plane [", "")
    p.answer("Keep secrets, a number", "9")
    p.until("Type a number from 1 to 3.")
    p.answer("Keep secrets, a number", "memory")
    p.answer("What now?", "c")
    p.answer("Name [Not A Name]", "shop")
    p.answer("Estuary token", "")
    p.answer("Estuary prefix [acmeCo/]", "-")
    p.answer("Data plane [", "")
    p.answer("Keep secrets, a number or its word [memory]", "")
    p.answer("What now?", "review")
    p.until("step 9 of 9, Review. Saved.")
    p.answer("What now?", "n")
    p.until("This is the last step.")
    p.answer("What now?", "?")
    p.until("Steps: start, oauth, postgres,")
    p.press("Ctrl-D")
    ends(p, 0)
    answers = load(sluice.state)["answers"]["start"]
    assert answers["name"] == "shop" and answers["keep_secrets"] == "memory" and "prefix" not in answers


def test_ctrl_c_cancels_and_twice_leaves(sluice, plain, catalog, fault_proxy):
    proxy = fault_proxy((catalog.host, catalog.port), mode="silent")
    sluice.env |= {"SLUICE_CA_FILE": str(catalog.ca_file), "SLUICE_OAUTH_URL": f"https://localhost:{proxy.port}/iceberg"}

    def to_checks():
        p = plain("--plain")
        p.answer("Name [", "shop")
        for question in ("Estuary token", "Estuary prefix [", "Data plane [", "Keep secrets, a number"):
            p.answer(question, "")
        time.sleep(0.3)
        p.press("Ctrl-C")
        p.until("Cancelled what ran.")
        return p

    p = to_checks()
    p.answer("What now?", "q")
    ends(p, 0)
    sluice.state.unlink()
    p = to_checks()
    p.press("Ctrl-C")    # whether the checks have ended meanwhile or not
    ends(p, 130)
    assert load(sluice.state)["name"] == "shop"


def test_read_only_beside_another(sluice, plain):
    p = plain("--plain")
    p.answer("Name [", "shop")
    p.until("Estuary token")
    p.press("Ctrl-D")
    ends(p, 0)
    before = sluice.bytes()
    with open(f"{sluice.state}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        p = plain("--plain")
        p.until("Read-only, another sluice has it open.")
        p.answer("What now?", "c")
        p.until("Read-only: ")
        p.answer("What now?", "q")
        ends(p, 0)
    assert sluice.bytes() == before


def test_what_cannot_be_saved_is_said(sluice, plain):
    p = plain("--plain")
    p.answer("Name [", "shop")
    p.until("Estuary token")
    sluice.state.unlink()
    sluice.state.symlink_to("elsewhere")
    p.answer("", "")
    p.answer("Estuary prefix [", "acmeCo/")
    p.until("Not saved.")
    sluice.state.unlink()
    p.answer("Data plane [", "plane")
    p.press("Ctrl-D")
    p.until("Saved in")
    ends(p, 0)
    assert load(sluice.state)["answers"]["start"]["prefix"] == "acmeCo/"


def test_without_a_terminal_it_says_what_is_missing(sluice):
    done = sluice.run("--plain").ends(3)
    assert "cannot ask" in done.err and "Name is missing" in done.err


def test_postgres_to_green(sluice, plain, ready_answers):
    """Tables chosen from what was found, a repair answered, the plan applied by the word, everything proved."""
    ready = ready_answers
    del ready.values["postgres"]["tables"], ready.values["postgres"]["repairs"]
    ready.save()
    sluice.env |= ready.env
    p = plain("--plain", "--answers", ready.answers, "--passphrase-file", ready.passphrase_file)
    begin(p, "")
    p.until("step 2 of 9")
    for question in ("Catalog URL [", "Branch [", "Warehouse [", "Client id [", "Client secret", "Token URI ["):
        p.answer(question, "")
    p.answer('The check "branch is writable"', "y")
    p.answer("What now?", "n")
    for question in ("Host [localhost]", "Port [", "Database [shop]", "TLS, a number or its word [verify-full]"):
        p.answer(question, "")
    p.answer("Change these too: CA file, Repairs", "n")
    for question in ("Admin [postgres]", "Admin password (not shown, never stored", "Capture user [flow_shop]",
                     "User password (not shown"):
        p.answer(question, "")
    told = p.answer("Tables, separated by commas", "?order")
    assert "passed: connects as admin" in told and '10 found: audit.orders, public."Order Items"' in told
    p.until("5 found: audit.orders,")
    p.answer("Tables, separated by commas", 'public.orders, public."Order Items", public.order_tags, audit.*')
    told = p.answer("A number, or Enter to decide later", "2")
    assert "public.order_tags: order_tags has no primary key" in told and "2 REPLICA IDENTITY FULL" in told
    told = p.answer("What now?", "p")
    assert " failed" not in told and "changes are planned: p shows them." in told
    told = p.answer("Type apply to make", "yes")
    assert "| CREATE PUBLICATION flow_shop" in told and "SCRAM-SHA-256$…" in told
    p.until("Nothing was done: only the word apply makes the changes.")
    p.answer("Type apply to make", "apply")
    told = p.until("writes and removes something")
    assert re.search(r"Applying\. \d made: publication flow_shop", told) and re.search(r"(\d+) of \1 done\.", told), told
    p.answer("Run it?", "y")
    told = p.answer("What now?", "p")
    assert re.search(r"\d+ checks: \d+ passed, \d with a warning\.", told), told
    told = p.answer("What now?", "q")
    assert "Nothing to change: everything stands as wanted." in told
    ends(p, 0, [ready.shop.server.admin_password, ready.catalog.client_secret])
    assert ready.shop.query("SELECT count(*) FROM pg_publication_tables WHERE pubname = 'flow_shop'") == [(5,)]    # with watermarks
