"""What cannot be used is refused with file, line and reason, with the documented exit code, and nothing is overwritten:
state files, answers files, the command line; a state that is in use; a machine without a terminal."""

import os
import re
import signal
import subprocess
import time

import pytest

from tests.e2e.term import QUICK

GOOD = "sluice: 1\nrun: 00112233aabbccdd\nname: shop\nanswers:\n  start: {name: shop}\n"

BAD_STATES = {
    "not YAML": ("sluice: 1\nname: [shop\nanswers: {}\n", 3, "did not find expected ',' or ']'"),
    "tab": ("sluice: 1\nanswers:\n\tstart: {}\n", 3, "a tab stands where the line is indented"),
    "two of a key": ("sluice: 1\nname: a\nname: b\n", 3, "name"),
    "newer": ("sluice: 2\nname: shop\n", 1, "written by a newer sluice (schema 2)"),
    "something else": ("hello: 1\n", 1, "not a state file of sluice"),
    "empty": ("", 1, "not a state file of sluice"),
    "a list": ("- sluice\n", 1, "the file must be a map of keys and values"),
    "answers no mapping": ("sluice: 1\nanswers: 7\n", 2, "answers must be a mapping"),
    "a step no mapping": ("sluice: 1\nanswers:\n  start: 5\n", 3, "start must be a mapping"),
    "checks a list": (GOOD + "checks: [1]\n", 6, "checks must be a mapping"),
    "journal a mapping": (GOOD + "journal: {a: 1}\n", 6, "journal must be a list"),
    "list is a mapping": ("sluice: 1\nanswers:\n  postgres:\n    tables: {a: 1}\n", 4, "postgres.tables must be a list"),
    "journal names nothing": (GOOD + "journal:\n- {kind: role}\n", 7, "a journal entry names no change"),
    "bytes": ("sluice: 1\nname: \udcff\udcfe\n", 2, ""),
}
BAD_ANSWERS = {
    "unknown field": ("start:\n  name: shop\noauth:\n  nonsense: x\n", 4, "“oauth.nonsense” is no field"),
    "unknown step": ("start:\n  name: shop\nnostep:\n  a: x\n", 4, "“nostep” is no step"),
    "not YAML": ("start:\n  name: [x\n", 3, "did not find expected"),
    "a secret in clear": ("oauth:\n  client_secret: canary-in-clear\n", 2, 'must be {secret: "env:NAME"}'),
    "a name with a capital": ("start:\n  name: Shop\n", 2, "a name has small letters"),
    "a list is a text": ("postgres:\n  tables: 5\n", 2, "postgres.tables"),
    "a table without schema": ("postgres:\n  tables: [orders]\n", 2, "schema"),
    "not a choice": ("start:\n  keep_secrets: somewhere\n", 2, "start.keep_secrets"),
}


def write_state(sluice, text: str, mode: int = 0o600) -> bytes:
    sluice.state.write_bytes(text.encode(errors="surrogateescape"))
    sluice.state.chmod(mode)
    return sluice.bytes()


def rows(cases: dict):
    return pytest.mark.parametrize("text, line, reason", cases.values(), ids=[name.replace(" ", "-") for name in cases])


@rows(BAD_STATES)
def test_malformed_state(sluice, text, line, reason):
    """Each command says file, line and reason, ends with 5 and leaves every byte."""
    before = write_state(sluice, text)
    for command in ("check", "apply --yes", "status", "state set start.name other"):
        done = sluice.run(*command.split()).ends(5)
        assert f"{sluice.state}: line {line}: " in done.err, str(done)
        assert reason in done.err and done.out == ""
        assert re.search(r"^  you: ", done.err, re.M), str(done)
    assert sluice.bytes() == before
    assert not list(sluice.folder.glob("*.previous")) and not sluice.secrets.exists()


def test_malformed_state_in_a_terminal(sluice, wizard):
    before = write_state(sluice, BAD_STATES["not YAML"][0])
    w = wizard(ready=None, cols=200)
    w.assert_ends(5)
    assert f"{sluice.state}: line 3: " in w.picture() and b"\x1b" not in w.output
    assert sluice.bytes() == before


@rows(BAD_ANSWERS)
def test_malformed_answers(sluice, text, line, reason):
    """Nothing of a bad answers file is taken over, and what it says in clear is not repeated."""
    before = write_state(sluice, GOOD)
    answers = sluice.folder / "answers.yaml"
    answers.write_text(text)
    for command in ("check", "plan", "apply --yes"):
        done = sluice.run(*command.split(), "--answers", answers).ends(5)
        assert f"{answers}: line {line}: " in done.err, str(done)
        assert reason in done.err and "canary" not in done.err
        assert re.search(r"^  you: ", done.err, re.M), str(done)
    assert (sluice.bytes(), answers.read_text()) == (before, text)


def test_missing_answers_file(sluice):
    done = sluice.run("check", "--answers", sluice.folder / "none.yaml").ends(5)
    assert f"{sluice.folder / 'none.yaml'}" in done.err and "No such file" in done.err


def test_unknown_ids_in_the_state_survive(sluice):
    """An older sluice must not lose what a newer one wrote."""
    write_state(sluice, GOOD + "  oauth: {nonsense: [1, two]}\n  nostep: {a: b}\nlater: {x: [y]}\n")
    sluice.run("state", "set", "start.prefix", "acmeCo/").ends(0)
    text = sluice.state.read_text()
    assert re.search(r"nonsense:\s+- 1\s+- two", text) and re.search(r"nostep:\s+a: b", text)
    assert re.search(r"later:\s+x:\s+- y", text) and "prefix: acmeCo/" in text
    assert (sluice.folder / "sluice.yaml.previous").read_text().startswith(GOOD)


def test_bad_value_in_the_state_is_kept_and_shown(sluice, wizard):
    """An answer edited by hand to something impossible: the file is usable, the field says what is wrong."""
    write_state(sluice, GOOD.replace("{name: shop}", '{name: "Shop of mine"}'))
    done = sluice.run("check", "start").ends(3)
    assert "a name has small letters" in done.err
    w = wizard()
    w.go_to("Name")
    assert w.value_of("Name") == "Shop of mine"
    assert "a name has small letters, digits and hyphens" in w.picture()
    w.quit()


@pytest.mark.parametrize("mode", [0o666, 0o640, 0o604])
def test_state_that_others_can_use(sluice, mode):
    before = write_state(sluice, GOOD, mode)
    done = sluice.run("status").ends(5)
    assert f"can be used by others (mode {mode:o})" in done.err and f"chmod 600 '{sluice.state}'" in done.err
    assert sluice.bytes() == before and sluice.state.stat().st_mode & 0o777 == mode


def test_state_behind_a_link(sluice):
    write_state(sluice, GOOD)
    real = sluice.folder / "real.yaml"
    sluice.state.rename(real)
    sluice.state.symlink_to(real)
    for command in ("status", "state set start.name other"):
        assert "is a symbolic link" in sluice.run(*command.split()).ends(5).err
    assert real.read_text() == GOOD and sluice.state.is_symlink()


def test_state_with_a_second_name(sluice):
    write_state(sluice, GOOD)
    os.link(sluice.state, sluice.folder / "other.yaml")
    assert "has a second name" in sluice.run("status").ends(5).err


def test_state_that_is_no_file(sluice):
    sluice.state.mkdir()
    assert "is a directory" in sluice.run("status").ends(5).err
    sluice.state.rmdir()
    os.mkfifo(sluice.state, 0o600)
    assert "is not a regular file" in sluice.run("status", timeout=20).ends(5).err


def test_state_of_another_user(sluice):
    if os.geteuid() != 0:
        pytest.fail("only root can give a file away; the suite runs as root in CI")
    write_state(sluice, GOOD)
    os.chown(sluice.state, 65534, -1)
    assert "belongs to another user" in sluice.run("status").ends(5).err


def test_locked_state(sluice, wizard):
    """What writes is refused while the screens are open, and told who holds it; what only looks is not."""
    w = wizard()
    w.fill("Name", "shop")
    w.wait_saved()
    before = sluice.bytes()
    for command in ("check", "plan", "apply --yes", "state set start.name other"):
        done = sluice.run(*command.split()).ends(5)
        assert f"is held by process {w.pid} on " in done.err and "since 20" in done.err
        assert "End the other" in done.err or "end that sluice" in done.err
    assert f"process {w.pid}" in sluice.run("status").ends(0).out
    assert sluice.bytes() == before
    w.quit()
    sluice.run("state", "set", "start.prefix", "acmeCo/").ends(0)


def test_second_wizard_is_read_only(sluice, wizard):
    """It shows everything, changes nothing, and says why."""
    first = wizard()
    first.fill("Name", "shop")
    first.wait_saved()
    before = sluice.bytes()
    second = wizard()
    second.wait_for(lambda w: "read-only" in w.header())
    second.to_step("Start")
    assert second.value_of("Name") == "shop"
    second.go_to("Name")
    second.type("x")
    second.wait_for(f"process {first.pid}")
    assert second.value_of("Name") == "shop"
    second.quit()
    assert sluice.bytes() == before
    first.fill("Estuary prefix", "acmeCo/")
    first.quit()
    assert b"acmeCo/" in sluice.bytes()


def test_lock_of_a_killed_one_is_free(sluice, wizard):
    w = wizard()
    w.fill("Name", "shop")
    w.wait_saved()
    w.kill(signal.SIGKILL)
    w.wait()
    assert str(w.pid) in (sluice.folder / "sluice.yaml.lock").read_text()
    sluice.run("state", "set", "start.prefix", "acmeCo/").ends(0)


# No terminal: exit code 3 at once, naming what is missing, without one escape code.


def no_terminal(sluice, **options):
    began = time.monotonic()
    process = sluice.start(**options)
    out, err = process.communicate(timeout=20)
    took = time.monotonic() - began
    assert process.returncode == 3, out + err
    assert out == "" and "\x1b" not in err
    assert "start.name" in err and "--answers" in err and "sluice check" in err.replace("`", "")
    assert took < 1 + SLOW, f"{took:.2f} s"
    return err


SLOW = 1.0    # what the sanitizers add to the start


def test_stdin_from_dev_null(sluice):
    assert "input is not a terminal" in no_terminal(sluice)


def test_stdin_a_silent_pipe(sluice):
    read, write = os.pipe()
    try:
        no_terminal(sluice, stdin=read)
    finally:
        os.close(read)
        os.close(write)


def test_without_a_session_of_a_terminal(sluice):
    no_terminal(sluice, start_new_session=True)


def test_stdout_piped_from_a_terminal(sluice, wizard):
    """Input a terminal, output a pipe: nobody would see a question."""
    command = " ".join(sluice.argv())
    from tests.e2e.term import Wizard
    with Wizard(["/bin/sh", "-c", f"{command} | cat; echo done"], env=sluice.env, cols=200) as w:
        w.wait_for("done", QUICK)
        assert "output is not a terminal" in w.picture() and "start.name" in w.picture()
        assert b"\x1b" not in w.output


def test_first_missing_answer_is_named(sluice):
    """Headless commands name it too, in the order of the steps, and ask nothing."""
    for given, missing in ((), "start.name"), (("--set", "start.name=shop"), "oauth.client_id"):
        done = sluice.run("plan", "--set", "oauth.url=https://localhost:1/iceberg", *given).ends(3)
        assert f"answer {missing}" in done.err, str(done)


# The command line


@pytest.mark.parametrize("words, said", [
    ("frobnicate", "unknown command frobnicate"), ("check --nope", "unknown option --nope"),
    ("check -xh", "unknown option -x"), ("-x", "unknown option -x"),
    ("check --timeout 0", "--timeout wants seconds"), ("check --timeout", "a value is missing"),
    ("export --output=", "an empty value is given to --output"), ("status --state=", "an empty value is given to --state"),
    ("check nosuch", "“nosuch” is no step and no check"), ("plan --deep", "this command does not take --deep"),
    ("check --deep=all", "--deep takes nothing or =costs"), ("state", "state wants a word"),
    ("state frob", "state does not know these words"), ("state get start.nope", "“start.nope” is no field"),
    ("accept oauth.branch", "--reason"), ("accept no.such --reason x", "“no.such” is no check"),
    ("completion tcsh", "name a shell"), ("check --set oauth.nope=1", "“oauth.nope” is no field"),
    ("check --set nonsense", "STEP.FIELD=VALUE")])
def test_wrong_usage(sluice, words, said):
    done = sluice.run(*words.split()).ends(64)
    assert said in done.err and done.out == ""
    assert not sluice.state.exists()


@pytest.mark.parametrize("words", ["check --set oauth.client_secret=canary-4711", "check --set start.token=canary-4711",
                                   "state set postgres.admin_password canary-4711"])
def test_secret_on_the_command_line(sluice, words):
    """It would stand in the list of processes: refused, and not repeated."""
    done = sluice.run(*words.split()).ends(64)
    assert "is a secret" in done.err and "env:NAME" in done.err and "canary" not in done.err
    assert not sluice.state.exists()


def test_secret_by_reference_that_leads_nowhere(sluice):
    for reference in ("env:SLUICE_TEST_NOT_SET", f"file:{sluice.folder}/none"):
        done = sluice.run("check", "oauth", "--set", f"oauth.client_secret={reference}").ends(5)
        assert reference.split(":", 1)[1] in done.err


def test_reference_in_the_state_that_leads_nowhere(sluice):
    """The set-up can still be looked at and worked on; what needs the secret names it."""
    write_state(sluice, GOOD + '  oauth: {client_id: app, client_secret: {secret: "env:SLUICE_TEST_NOT_SET"}}\n')
    sluice.run("status").ends(0)
    done = sluice.run("check", "oauth", "--set", "oauth.url=http://127.0.0.1:1/iceberg").ends(3)
    assert "SLUICE_TEST_NOT_SET" in done.err
    assert "env:SLUICE_TEST_NOT_SET" in sluice.state.read_text()


def test_help_and_version_need_nothing(sluice):
    assert re.fullmatch(r"sluice \d+\.\d+\S*\n", sluice.run("--version").ends(0).out)
    assert "Exit codes: 0 done" in sluice.run("--help").ends(0).out
    assert "--deep" in sluice.run("check", "--help").ends(0).out
    assert list(sluice.folder.iterdir()) == []


def test_nobody_reads_the_result(sluice):
    """A closed pipe is no crash."""
    process = sluice.start("--help", stdout=subprocess.PIPE)
    process.stdout.close()
    assert process.wait(20) in (0, 1, -signal.SIGPIPE)
    process.stderr.close()
