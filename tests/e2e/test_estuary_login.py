"""The step Start against the stand-in for Estuary: the login, whatever was pasted and whatever answers; prefix and data plane
with their ways out."""

import base64
import json
import time
from types import SimpleNamespace

import pytest
import yaml

from tests.services.estuary.testing import PLANE, estuary  # noqa: F401
from tests.services.tls import write_private

CLOSED, OTHER, UNKNOWN = "ops/dp/public/gcp-us-central1-c1", "ops/dp/private/acmeCo/aws-eu-central-1-c1", "ops/dp/public/x"
NOTHING = {"SLUICE_ESTUARY_API_URL": "https://127.0.0.1:1", "SLUICE_ESTUARY_PG_URL": "https://127.0.0.1:1/rest/v1"}


@pytest.fixture
def start(sluice, estuary):  # noqa: F811
    """start(token, prefix=…, data_plane=…) answers these for good, runs the three checks, and gives what came of it; no
    token is ever seen."""
    sluice.env |= estuary.environment() | {"SLUICE_CA_FILE": str(estuary.ca_file)}
    file = sluice.folder / "token"

    def run(token: str | None = None, env: dict[str, str] | None = None, **answers: str):
        given = {"start.name": "shop", **{f"start.{name}": value for name, value in answers.items()}}
        if token is not None:
            write_private(file, token)
            given["start.token"] = f"file:{file}"
        words = [word for name, value in given.items() for word in ("--set", f"{name}={value}")]
        done = sluice.run("check", "start.login", "start.prefix", "start.plane", "--json", *words, env=env)
        for secret in (token, token and token.split(".")[-1]):
            assert not secret or secret not in done.out + done.err + (sluice.state.read_text() if sluice.state.exists() else "")
        found = done.checks if done.out else {}
        return SimpleNamespace(code=done.code, err=done.err, login=found.get("start.login"), prefix=found.get("start.prefix"),
                               plane=found.get("start.plane"), status=[check["status"] for check in found.values()])

    run.sluice, run.answers = sluice, lambda: yaml.safe_load(sluice.state.read_text())["answers"]["start"]
    return run


def jwt(claims: dict) -> str:
    """An access token that nobody signed."""
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in ({"alg": "HS256"}, claims)]
    return ".".join([*parts, "c2lnbmVkLWJ5LW5vYm9keQ"])


# --- the token


def test_a_refresh_token(start, estuary):  # noqa: F811
    """Prefix and data plane follow from the login where they are not answered, and outlive it."""
    found = start(estuary.pasted)
    assert found.code == 0 and found.status == ["passed"] * 3
    assert found.login["line"] == "alice@acme.example, admin of 1 prefix, 4 data planes"
    assert {item["name"]: item["line"] for item in found.login["items"]}["betaCo/"] == "write"
    assert found.prefix["line"] == "acmeCo/ is yours to administer, stored by the mapping of acmeCo/"
    assert found.plane["line"] == "aws us-east-1, 6 addresses to let in at the database"
    assert found.plane["copy"].split() == [item["name"] for item in found.plane["items"]] and "2001:db8" in found.plane["copy"]
    assert start.answers()["prefix"] == "acmeCo/" and start.answers()["data_plane"] == PLANE
    for env in (NOTHING, {}):
        assert start(env=env).code == (4 if env else 0)
        assert start.answers()["prefix"] == "acmeCo/" and start.answers()["data_plane"] == PLANE


def test_without_a_token(start):
    found = start(prefix="anyCo/", data_plane="ops/dp/public/any")
    assert found.code == 0 and found.status == ["skipped"] * 3
    assert "the export will be a draft" in found.login["line"] and "taken as typed" in found.prefix["line"]


def test_a_token_that_was_cut(start, estuary):  # noqa: F811
    found = start(estuary.pasted[:-10])
    assert found.code == 5 and "cut short" in found.err and "Copy all of it" in found.err
    assert not estuary.log.entries()


def test_an_access_token(start, estuary):  # noqa: F811
    found = start(estuary.access_token())
    assert found.code == 0 and found.status == ["warned", "passed", "passed"]
    assert "ends in 60 min" in found.login["line"] or "ends in 59 min" in found.login["line"]
    assert "refresh token" in found.login["fix"] and found.login["links"]


def test_an_access_token_that_is_over(start, estuary):  # noqa: F811
    found = start(jwt({"exp": int(time.time()) - 600, "email": "alice@acme.example"}))
    assert found.code == 1 and found.status == ["failed", "waiting", "waiting"]
    assert "expired" in found.login["line"] and "refresh token" in found.login["why"]
    assert not estuary.log.entries(), "it is not sent"


def test_a_token_that_was_revoked(start, estuary):  # noqa: F811
    """Told in words for people; asked again only on demand; the answers of before stay."""
    assert start(estuary.pasted).code == 0
    estuary.world.store.remove("refresh_tokens", lambda row: True)
    found = start()
    assert found.code == 1 and found.status == ["failed", "waiting", "waiting"]
    assert "revoked" in found.login["why"] and "Make a new refresh token" in found.login["fix"] and found.login["links"]
    assert start.answers()["prefix"] == "acmeCo/"


def test_a_token_for_one_use(start, estuary):  # noqa: F811
    """Warned of where it works, understood where it does not any more."""
    token = estuary.token(multi_use=False)
    first, second = start(token), start()
    assert first.code == 0 and first.status == ["warned", "passed", "passed"]
    assert "used up" in first.login["line"] and "many uses" in first.login["fix"]
    assert second.code == 1 and second.login["status"] == "failed"
    assert "was good for one use and has been used" in second.login["why"]


def test_no_answer(start, estuary):  # noqa: F811
    found = start(estuary.pasted, env=NOTHING)
    assert found.code == 4 and found.login["status"] == "unreachable" and found.login["fix"]


@pytest.mark.parametrize("service", ["pg", "graphql"])
def test_another_answers(start, estuary, service):  # noqa: F811
    estuary.faults.add("captive", service=service)
    found = start(estuary.pasted)
    assert found.code == 1 and found.login["status"] == "failed" and found.login["who"] == "network"
    assert "a web page answers" in found.login["line"] and "proxy" in found.login["why"]


def test_lists_that_name_things_twice(start, estuary):  # noqa: F811
    """As pages do that shift under the reader; what is kept of them must be readable again."""
    twice = {"prefixes": {"prefix": "acmeCo/", "userCapability": "admin"},
             "dataPlanes": {"name": PLANE, "cloudProvider": "AWS", "region": "us-east-1", "cidrBlocks": ["192.0.2.7/32"]},
             "storageMappings": {"catalogPrefix": "acmeCo/", "spec": {"data_planes": [PLANE]}}}
    for field, node in twice.items():
        answer = {"data": {field: {"edges": [{"node": node}] * 2, "pageInfo": {"hasNextPage": False}}}}
        estuary.faults.add("status", service="graphql", operation=field, status=200, body=json.dumps(answer))
    found = start(estuary.pasted)
    assert found.code == 0 and found.login["line"] == "alice@acme.example, admin of 1 prefix, 1 data planes"
    assert start().code == 0 and start.answers()["prefix"] == "acmeCo/"


# --- prefix and data plane


@pytest.mark.parametrize("prefix, line", [("betaCo/", "you may only write betaCo/"), ("other/", "other/ is none of yours")])
def test_a_prefix_of_others(start, estuary, prefix, line):  # noqa: F811
    found = start(estuary.pasted, prefix=prefix)
    assert found.code == 1 and found.prefix["status"] == "failed" and found.prefix["line"] == line
    assert "Take acmeCo/" in found.prefix["fix"] and "administer" in found.prefix["why"]
    assert start(prefix="acmeCo/data/").code == 0


def test_no_prefix_to_administer(start, estuary):  # noqa: F811
    estuary.grant("acmeCo/", "write")
    found = start(estuary.pasted, prefix="acmeCo/")
    assert found.code == 1 and found.prefix["who"] == "Estuary" and "grant you admin" in found.prefix["fix"]


def test_no_storage_mapping(start, estuary):  # noqa: F811
    estuary.put_mapping("acmeCo/", None)
    found = start(estuary.pasted, prefix="acmeCo/", data_plane=PLANE)
    assert found.code == 1 and found.status == ["passed", "failed", "failed"]
    assert "no storage mapping" in found.prefix["line"] and "Admin, Settings" in found.prefix["fix"]
    assert "stores with no data plane" in found.plane["line"] and "storage mapping of acmeCo/" in found.plane["fix"]


@pytest.mark.parametrize("plane, mapped, line", [
    (CLOSED, True, "takes nothing new"), (CLOSED, False, "stores with other data planes"),
    (OTHER, False, "or none you may use"), (UNKNOWN, True, "or none you may use")])
def test_a_plane_for_others(start, estuary, plane, mapped, line):  # noqa: F811
    if mapped:
        estuary.put_mapping("acmeCo/", [plane, PLANE])
    found = start(estuary.pasted, prefix="acmeCo/", data_plane=plane)
    assert found.code == 1 and found.status == ["passed", "passed", "failed"] and line in found.plane["line"]
    assert f"Take {PLANE}" in found.plane["fix"] and found.plane["why"]
    assert start(data_plane=PLANE).code == 0


def test_ways_out_are_taken_over(start, estuary, wizard):  # noqa: F811
    """In the screens both wrong answers are mended by a key each."""
    assert start(estuary.pasted, prefix="betaCo/", data_plane=UNKNOWN).status == ["passed", "failed", "failed"]
    w = wizard()
    w.to_step("Start")
    for title in ("prefix is yours", "data plane runs new tasks"):
        w.wait_check(title, "✗")
        w.open_check(title)
        w.press("F5")
        w.wait_for("Take over")
        w.press("t", "Esc")
        w.wait_check(title, "✓")
    w.quit()
    assert start.answers()["prefix"] == "acmeCo/" and start.answers()["data_plane"] == PLANE


def test_a_default_shows_where_the_cursor_waits(start, estuary, wizard):  # noqa: F811
    """Enter behind the token leads to the prefix before the login is through: then it stands there, to go on from."""
    assert start(prefix="").code == 0
    estuary.faults.add("hold", service="graphql", operation="prefixes", stage="before")
    w = wizard()
    w.to_step("Start")
    write_private(start.sluice.folder / "token", estuary.pasted)
    w.fill("Estuary token", f"file:{start.sluice.folder / 'token'}")
    w.wait_for(lambda w: w.at("Estuary prefix") and w.value_of("Estuary prefix") == "e.g. acmeCo/")
    assert estuary.faults.held(10)
    estuary.faults.release()
    w.wait_for(lambda w: w.value_of("Estuary prefix") == "acmeCo/")
    w.type("shop")
    w.settle()
    assert w.value_of("Estuary prefix") == "acmeCo/shop"
    w.press("Down")
    w.wait_for(lambda w: w.value_of("Estuary prefix") == "acmeCo/shop/")
    w.quit()
