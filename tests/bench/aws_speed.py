"""AWS: apply from an empty account and check of what it made, beside the same calls by the aws CLI, a process each, and by
boto3, one process for all, both one after the other.

The calls are those that sluice was seen to make, with their parameters, in the order in which they arrived. Each side begins
with the same account; a call that a peer ends otherwise than sluice (or cannot make) is counted and told."""

import base64
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from botocore import xform_name

from tests.services import answers as prefilled

from .aws_calls import APPLICATION, KEY, listening
from .figures import Figure, alternate, of_runs
from .world import Prepared, World

STEPS = ("emr", "bucket", "iam")
CLI = "/usr/bin/aws"
BOTO3 = Path(__file__).with_name("aws_boto3.py")
WITHOUT_CALLS = "bucket.prefixes"   # judges answers only
GOAL_CLI, GOAL_BOTO3 = 1 / 50, 1 / 4
Calls = list[dict[str, Any]]


class Side:
    """The account, the calls to be made in it, and who makes them."""

    def __init__(self, world: World):
        self.world, self.aws = world, world.aws
        self.calls: Calls = []
        self.differ: dict[str, list[str]] = {"aws CLI": [], "boto3": []}
        self.stand_in: dict[str, list[float]] = {"ours": [], "boto3": []}   # seconds of its own work, in this process

    def empty(self) -> None:
        self.aws.reset()
        self.aws.make_bucket(prefilled.LAKE)

    def prepared(self) -> Prepared:
        told = self.world.aws_told()
        values = {"start": {"name": "shop", "keep_secrets": "file"}, **prefilled.for_aws(told)}
        return self.world.sluice(values, told.environment)

    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.world.folder), "LC_ALL": "C.UTF-8", **self.aws.environment()}

    def known(self) -> dict[str, str]:
        """What the placeholders stand for, as far as it is there."""
        held = self.aws.contents()
        return {name: found[0] for name, found in ((APPLICATION, held["applications"]), (KEY, held["keys"])) if found}

    def user_key(self) -> dict[str, str] | None:
        if not (held := self.aws.contents()["keys"]):
            return None
        credential = self.aws.world.callers.credential(held[0], "sts")
        assert credential is not None
        return {"aws_access_key_id": held[0], "aws_secret_access_key": credential.secret}

    def by_sluice(self, made: Prepared, *words: str) -> float:
        began, worked = time.monotonic(), time.process_time()
        made.run(*words).ends(0)
        took = time.monotonic() - began
        self.stand_in["ours"].append(time.process_time() - worked)
        return took

    def by_boto3(self) -> float:
        file = self.world.folder / "calls.json"
        file.write_text(json.dumps({"calls": self.calls, "known": self.known(), "key": self.user_key()}))
        began, worked = time.monotonic(), time.process_time()
        done = subprocess.run([sys.executable, "-I", str(BOTO3), str(file)], env=self.environment(), capture_output=True,
                              text=True, check=False)
        took = time.monotonic() - began
        assert done.returncode == 0, done.stderr
        self.stand_in["boto3"].append(time.process_time() - worked)
        self._compare("boto3", [status < 400 for status in json.loads(done.stdout)])
        return took

    def by_cli(self) -> float:
        known, key, worked = self.known(), self.user_key(), []
        began = time.monotonic()
        for call in self.calls:
            done = self._cli(call, known, key)
            worked.append(done.returncode == 0)
            if done.returncode == 0 and call["operation"] == "CreateApplication":
                known[APPLICATION] = json.loads(done.stdout)["applicationId"]
            elif done.returncode == 0 and call["operation"] == "CreateAccessKey":
                made = json.loads(done.stdout)["AccessKey"]
                known[KEY] = made["AccessKeyId"]
                key = {"aws_access_key_id": made["AccessKeyId"], "aws_secret_access_key": made["SecretAccessKey"]}
        took = time.monotonic() - began
        self._compare("aws CLI", worked)
        return took

    def _cli(self, call: dict[str, Any], known: dict[str, str], key: dict[str, str] | None) -> subprocess.CompletedProcess:
        params = json.dumps(call["params"])
        for placeholder, value in known.items():
            params = params.replace(placeholder, value)
        given, more = json.loads(params), []
        plain = ["--cli-input-json", json.dumps(given)]
        if isinstance(body := given.get("Body"), dict):
            file = self.world.folder / "body"
            file.write_bytes(base64.b64decode(body["base64"]))
            del given["Body"]
            plain = ["--cli-input-json", json.dumps(given), "--body", str(file)]
        if call["operation"] == "GetObject":   # the one command that wants a word without a name
            plain = [*(word for name, value in given.items() for word in (f"--{xform_name(name, '-')}", value)), "/dev/null"]
        environment = self.environment()
        if call["signer"] == "user" and key:
            environment |= {name.upper(): value for name, value in key.items()}
        if call["signer"] == "none":
            more.append("--no-sign-request")
        service = "s3api" if call["service"] == "s3" else call["service"]
        return subprocess.run(
            [CLI, service, xform_name(call["operation"], "-"), "--endpoint-url", self.aws.url, "--output", "json",
             "--no-cli-pager", "--no-paginate", *plain, *more],
            env=environment, capture_output=True, text=True, check=False)

    def _compare(self, who: str, worked: list[bool]) -> None:
        """Which calls ended otherwise than sluice's."""
        self.differ[who] = [f"{call['service']}:{call['operation']}" for call, well in zip(self.calls, worked, strict=True)
                            if well != (call["status"] < 400)]


def measure(world: World, runs: int, cli_runs: tuple[int, int]) -> list[Figure]:
    """cli_runs: how often the CLI makes the calls of apply, and those of check: each of them is a process of about a second."""
    world.folder.mkdir(parents=True, exist_ok=True)
    return [*_apply(Side(world), runs, cli_runs[0]), *_check(Side(world), runs, cli_runs[1])]


def _apply(side: Side, runs: int, cli_runs: int) -> list[Figure]:
    words = ("apply", *STEPS, "--yes")

    def ours() -> float:
        side.empty()
        return side.by_sluice(side.prepared(), *words)

    def in_empty(peer: Callable[[], float]) -> Callable[[], float]:
        def run() -> float:
            side.empty()
            return peer()
        return run

    side.empty()
    with listening(side.aws) as side.calls:
        side.prepared().run(*words).ends(0)
    return _figures("apply", side, runs, cli_runs, ours, in_empty(side.by_boto3), in_empty(side.by_cli))


def _check(side: Side, runs: int, cli_runs: int) -> list[Figure]:
    side.empty()
    made = side.prepared()
    made.run("apply", *STEPS, "--yes").ends(0)
    with listening(side.aws) as side.calls:
        made.run("check", *STEPS).ends(0)
    found = _figures("check", side, runs, cli_runs, lambda: side.by_sluice(made, "check", *STEPS), side.by_boto3, side.by_cli)

    def nothing() -> float:
        began = time.monotonic()
        mark = side.aws.log.mark()
        made.run("check", WITHOUT_CALLS).ends(0)
        assert side.aws.log.mark() == mark
        return time.monotonic() - began

    without = statistics.median(alternate(5, nothing)[0])
    for figure in found:
        figure.detail["check_without_calls_s"] = without
    found[0].note += f"; a check without any call takes {without:.2g} s"
    return found


def _figures(what: str, side: Side, runs: int, cli_runs: int, ours: Callable[[], float], boto3: Callable[[], float],
             cli: Callable[[], float]) -> list[Figure]:
    ours(), boto3()   # the pages of both are in memory now
    for worked in side.stand_in.values():
        worked.clear()
    detail: dict[str, Any] = {"calls": [f"{call['service']}:{call['operation']}" for call in side.calls],
                              "calls_that_end_otherwise": side.differ, "stand_in_s": side.stand_in}

    def figure(who: str, count: int, peer: Callable[[], float], goal: float) -> Figure:
        both = alternate(count, ours, peer)
        differ = side.differ[who]
        other = f", {len(differ)} end otherwise: {', '.join(sorted(set(differ)))}" if differ else ""
        return of_runs(f"AWS {what}, beside {who}", "s", *both, goal, f"{len(side.calls)} calls{other}", **detail)

    found = [figure("boto3", runs, boto3, GOAL_BOTO3)]
    own, peers = (statistics.median(side.stand_in[who]) for who in ("ours", "boto3"))
    found[0].note += f"; the stand-in's own work is {own:.2g} s of ours, {peers:.2g} s of the peer's"
    return found + ([figure("aws CLI", cli_runs, cli, GOAL_CLI)] if cli_runs else [])
