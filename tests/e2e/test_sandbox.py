"""scripts/sandbox: serves, resumes, starts over, and leaves nothing behind however it ends. sluice itself is played by a
small script here, so that only the sandbox is under test."""

import os
import pty
import re
import signal
import socket
import subprocess
import time
import urllib.parse
from pathlib import Path

import boto3
import psycopg
import pytest
import yaml

from tests.e2e.test_estuary_standin_jobs import discover, publish
from tests.e2e.test_services import postmaster_of, processes_naming
from tests.services import places
from tests.services.estuary.testing import CAPTURE, MATERIALIZATION, Elsewhere, iceberg_config, pipeline, postgres_config
from tests.services.front import https_opener

SCRIPT = places.REPO / "scripts" / "sandbox"
PLAYED = """#!/bin/sh
echo "$@" >>"$PLAYED_LOG"
state=$(echo "$@" | sed 's/.*--state \\([^ ]*\\).*/\\1/')
case $1 in
    export)   # as into a folder that was worked on
        [ -e "$3" ] && exit 1
        mkdir "$3" && exit 0 ;;
    check | plan | apply)
        [ -e "$state" ] || echo 'sluice: 1' >"$state"
        case "$*" in *--json*) echo '{"checks": [{"id": "a.b", "status": "passed", "title": "it is proved", "why": null}]}' ;; esac
        exit "${PLAYED_CODE:-2}" ;;
esac
trap 'echo saved >"$PLAYED_LOG.saved"; exit 143' TERM HUP
echo "PLAYING with $SLUICE_CA_FILE${AWS_PROFILE:+ and a profile of the machine}"
[ -z "$PLAYED_STAYS" ] || while :; do sleep 0.1; done
"""


@pytest.fixture
def home(service_folder, tmp_path_factory):
    """Where a sandbox keeps everything; also marks its processes, since their command lines name it."""
    folder = service_folder / tmp_path_factory.mktemp("sandbox").name
    yield folder
    assert gone(folder), f"left over: {processes_naming(str(folder))}"


@pytest.fixture
def played(tmp_path):
    """Environment in which the sandbox runs PLAYED; the commands it got stand in tmp_path/log."""
    program = tmp_path / "sluice"
    program.write_text(PLAYED)
    program.chmod(0o755)
    return {**os.environ, "SLUICE_BIN": str(program), "PLAYED_LOG": str(tmp_path / "log")}


def gone(folder: Path, seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while processes_naming(str(folder)) or postmaster_of(folder):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def serve(folder: Path, *more: str) -> subprocess.Popen:
    process = subprocess.Popen([SCRIPT, "--serve", folder, *more], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (folder / "ready").exists() or (folder / "ready").read_text().strip() != str(process.pid):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline, "not ready within a minute"
        time.sleep(0.05)
    return process


def end(process: subprocess.Popen, number: int = signal.SIGTERM) -> int:
    process.send_signal(number)
    with process:
        process.stderr.read()
    return process.returncode


def read_env(folder: Path) -> dict[str, str]:
    """What a shell gets from DIR/env."""
    shown = subprocess.run(["sh", "-c", f'. "{folder}/env"; env -0'], capture_output=True, text=True, check=True, env={})
    return dict(line.split("=", 1) for line in shown.stdout.split("\0") if "=" in line)


def client(service: str, env: dict[str, str]):
    """A boto3 client by what DIR/env says, and nothing of this machine's."""
    return boto3.client(service, endpoint_url=env["AWS_ENDPOINT_URL"], verify=env["AWS_CA_BUNDLE"], region_name=env["AWS_REGION"],
                        aws_access_key_id=env["AWS_ACCESS_KEY_ID"], aws_secret_access_key=env["AWS_SECRET_ACCESS_KEY"])


def buckets(env: dict[str, str]) -> set[str]:
    return {bucket["Name"] for bucket in client("s3", env).list_buckets()["Buckets"]}


def estuary_asks_the_others(home: Path, env: dict[str, str], answers: dict) -> None:
    """Discovery reads the shop itself; a dry run meets what the shop and the account lack, behind a login at the catalog."""
    at = Elsewhere(env, env["SLUICE_CA_FILE"], env["SANDBOX_ESTUARY"]).login((home / "estuary-token").read_text())
    assert answers["start"]["prefix"] in {role["role_prefix"] for role in at.pg("POST", "rpc/auth_roles",
                                                                              {"min_capability": "admin"}).json}
    source = postgres_config((home / "admin-password").read_text(), user=answers["postgres"]["admin_user"],
                             address=f"localhost:{answers['postgres']['port']}",
                             advanced={"sslmode": "require", "discover_unpublished_tables": True})
    sealed = at.seal("capture", source)
    status, errors, specs = discover(at, sealed)
    assert (status, errors) == ({"type": "success"}, [])
    assert {"acmeCo/shop/audit/orders", "acmeCo/shop/public/order_items"} <= set(specs)
    target = iceberg_config(url=env["SANDBOX_CATALOG"] + "/alice.ingest")
    target["credentials"]["credential"] = f"{env['SANDBOX_CLIENT_ID']}:{Path(env['SANDBOX_CLIENT_SECRET_FILE']).read_text()}"
    keys = target["compute"]["credentials"]
    keys["aws_access_key_id"], keys["aws_secret_access_key"] = env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"]
    specs = pipeline(at)
    specs[CAPTURE][1]["endpoint"]["connector"]["config"] = sealed
    specs[MATERIALIZATION][1]["endpoint"]["connector"]["config"] = at.seal("materialization", target)
    status, errors, _ = publish(at, specs)
    told = "\n".join(detail for _, detail in errors)
    assert status["type"] != "success" and 'publication "flow_publication" does not exist' in told
    assert 'failed to list job runs for application "00abcdefghijkl01"' in told and "creating catalog" not in told


@pytest.mark.timeout(240)
def test_serves_resumes_and_starts_over(home):
    process = serve(home)
    for name in ("answers.yaml", "passphrase", "env", "client-secret", "admin-password", "estuary-token"):
        assert (home / name).stat().st_mode & 0o777 == 0o600, name
    env, first = read_env(home), yaml.safe_load((home / "answers.yaml").read_text())
    assert set(first) == {"start", "oauth", "postgres", "emr", "bucket", "iam", "materialization"}
    assert len(first["postgres"]["tables"]) == 8
    assert env["SANDBOX_CATALOG"] == first["oauth"]["url"] and env["SANDBOX_CATALOG"].endswith("/iceberg")
    secret = Path(env["SANDBOX_CLIENT_SECRET_FILE"]).read_text()
    form = {"grant_type": "client_credentials", "client_id": env["SANDBOX_CLIENT_ID"], "client_secret": secret}
    with https_opener(Path(env["SLUICE_CA_FILE"])).open(
            env["SANDBOX_TOKEN_URL"], urllib.parse.urlencode(form).encode(), timeout=10) as answer:
        assert answer.status == 200
    with psycopg.connect(env["SANDBOX_POSTGRES"], autocommit=True) as connection:
        assert connection.execute("SELECT count(*) FROM orders").fetchone() == (2000,)
        connection.execute("CREATE TABLE made_here ()")
    assert env["SANDBOX_AWS"] == env["AWS_ENDPOINT_URL"] and env["AWS_CA_BUNDLE"] == env["SLUICE_CA_FILE"]
    assert buckets(env) == {first["bucket"]["lake"]}
    token = (home / "estuary-token").read_text()
    subnets = client("ec2", env).describe_subnets(SubnetIds=first["emr"]["subnets"])["Subnets"]
    assert {tag["Value"] for subnet in subnets for tag in subnet["Tags"]} == {"private-nat", "private-nat-b"}
    estuary_asks_the_others(home, env, first)
    client("s3", env).create_bucket(Bucket="made-here")   # and killed at once, see below
    second = subprocess.run([SCRIPT, "--serve", home], capture_output=True, text=True, timeout=60)
    assert second.returncode != 0 and f"runs already in {home} (process {process.pid})" in second.stderr

    assert end(process, signal.SIGKILL) == -9   # and at once again: it waits for the servers to end
    process = serve(home)
    assert yaml.safe_load((home / "answers.yaml").read_text()) == first
    assert read_env(home) == env and (home / "estuary-token").read_text() == token
    assert buckets(env) == {first["bucket"]["lake"], "made-here"}
    with psycopg.connect(env["SANDBOX_POSTGRES"]) as connection:
        assert connection.execute("SELECT to_regclass('made_here')::text").fetchone() == ("made_here",)
    assert end(process) == 0 and not (home / "ready").exists() and gone(home)

    with socket.create_server(("127.0.0.1", first["postgres"]["port"])):
        taken = subprocess.run([SCRIPT, "--serve", home], capture_output=True, text=True, timeout=60)
    assert taken.returncode != 0
    assert f"port {first['postgres']['port']}" in taken.stderr and "--fresh" in taken.stderr

    (home / "mine").write_text("kept")
    process = serve(home, "--fresh")
    with psycopg.connect(read_env(home)["SANDBOX_POSTGRES"]) as connection:
        assert connection.execute("SELECT to_regclass('made_here')").fetchone() == (None,)
    assert buckets(read_env(home)) == {first["bucket"]["lake"]}
    assert (home / "estuary-token").read_text() != token
    assert (home / "mine").exists()
    assert end(process, signal.SIGINT) == 0


def test_headless_runs_the_whole_job(home, played, tmp_path):
    environment = played | {"SANDBOX_HOME": str(home)}
    (home / "shop" / "export").mkdir(parents=True)   # somebody's: left alone
    done = subprocess.run([SCRIPT], env=environment | {"PLAYED_CODE": "2"}, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 2, done.stderr
    commands = (tmp_path / "log").read_text().splitlines()
    assert [line.split(" --state")[0] for line in commands] == [
        "check", "plan", "apply --yes", "check --deep --json", f"export -o {home}/shop/export", f"export -o {home}/shop/export-2"]
    assert ["--answers" in line for line in commands] == [True] + 5 * [False]   # they seed only a new state
    assert all(f"--state {home}/shop/sluice.yaml --passphrase-file {home}/passphrase" in line for line in commands)
    assert "it is proved" in done.stdout and "1 passed" in done.stdout and f"{home}/shop/sluice.yaml" in done.stdout
    assert f"Read {home}/shop/export-2/RUNBOOK.md first" in done.stdout
    assert gone(home)


@pytest.mark.timeout(240)
def test_the_program_itself(home, sluice_bin):
    """Without a terminal the real program makes and proves all of it and writes the specification; again, it goes on with what
    is there."""
    environment = {**os.environ, "SANDBOX_HOME": str(home), "SLUICE_BIN": str(sluice_bin), "AWS_PROFILE": "production"}
    for changes in ("13 changes. Nothing was written.", "0 changes: everything stands as wanted."):
        done = subprocess.run([SCRIPT], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=150)
        assert done.returncode == 0, done.stdout + done.stderr
        assert changes in done.stdout and "Proved live against the local services" in done.stdout
        for check in ("oauth.writable", "postgres.cdc_round_trip", "emr.application", "bucket.staging_access", "iam.replay",
                      "capture.collections", "materialization.config"):
            assert re.search(rf"^  passed +{re.escape(check)} ", done.stdout, re.M), check
        assert f"Read {home}/shop/export/RUNBOOK.md first" in done.stdout
        assert {"flow.yaml", "RUNBOOK.md", "acmeCo"} <= set(os.listdir(home / "shop" / "export"))
        assert gone(home)


def on_terminal(environment: dict[str, str]) -> tuple[subprocess.Popen, int]:
    """The sandbox as the foreground process of a terminal of its own."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([SCRIPT], env=environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                               preexec_fn=lambda: __import__("fcntl").ioctl(0, 0x540E, 0))   # TIOCSCTTY
    os.close(theirs)
    return process, ours


def read_until(terminal: int, text: str) -> None:
    seen, deadline = b"", time.monotonic() + 60
    while text.encode() not in seen:
        assert time.monotonic() < deadline, seen
        seen += os.read(terminal, 4096)


@pytest.mark.parametrize("victim", ["sluice", "sandbox"])
def test_on_a_terminal_and_kill_9(home, played, tmp_path, victim):
    process, terminal = on_terminal(played | {"SANDBOX_HOME": str(home), "PLAYED_STAYS": "1", "AWS_PROFILE": "production"})
    read_until(terminal, f"PLAYING with {home}/services/ca/ca.pem\r\n")
    sluice = processes_naming(str(tmp_path / "sluice"))
    assert sluice and (tmp_path / "log").read_text().startswith("--state")
    if victim == "sluice":
        os.kill(sluice[0], signal.SIGKILL)
        assert process.wait(30) == 128 + 9
    else:
        process.kill()
        process.wait(30)
        assert gone(tmp_path / "sluice") and (tmp_path / "log.saved").exists()   # it got a signal to save by
    assert gone(home)
    os.close(terminal)
