"""No secret leaves sluice but to the service that it is for. A whole set-up is gone through, headless and in the screens,
with secrets that are recognised in every form; all that came out of the program, lay about while it ran and stands
afterwards is searched for them. The secrets file is searched as well: in clear they are not even there."""

import base64
import json
import secrets
import urllib.parse
from pathlib import Path

import pytest

from tests.e2e import tree
from tests.e2e.canary import Watch, awkward, forms, stored
from tests.e2e.everything import aws, estuary, everything, whole  # noqa: F401
from tests.services.tls import write_private

ADMIN = "canary_admin"
SECRETS = ("admin password", "passphrase", "client secret", "Estuary token", "Estuary token's secret", "AWS administrator's key",
           "made password", "made access key")


@pytest.fixture
def canaries(everything) -> dict[str, str]:  # noqa: F811
    """What is known beforehand: each as awkward as its place allows."""
    known = {"admin password": awkward(secrets.token_hex(16)), "passphrase": awkward(secrets.token_hex(16)),
             "client secret": everything.catalog.client_secret, "Estuary token": everything.estuary.pasted,
             "Estuary token's secret": json.loads(base64.b64decode(everything.estuary.pasted))["secret"],
             "AWS administrator's key": everything.aws.admin_secret}
    quoted = known["admin password"].replace("'", "''")
    everything.shop.query(f"SET log_statement = 'none'; CREATE ROLE {ADMIN} LOGIN SUPERUSER PASSWORD '{quoted}'; SELECT 1")
    everything.values["postgres"]["admin_user"] = ADMIN
    everything.save()
    write_private(everything.folder / "admin-password", known["admin password"])
    write_private(everything.passphrase_file, known["passphrase"] + "\n")
    return known


@pytest.fixture
def watch(everything, tmp_path) -> Watch:  # noqa: F811
    """Sees sluice's folder with its home and temporary files, and what is exported but for the form that has them in clear."""
    (tmp_path / "exported").mkdir()
    temporary = everything.sluice.folder / "tmp"
    temporary.mkdir()
    everything.sluice.env["TMPDIR"] = str(temporary)
    return Watch(everything.sluice, [everything.sluice.folder, tmp_path / "exported"])


def test_no_secret_comes_out(everything, canaries, watch, wizard, tmp_path):  # noqa: F811
    """check, the screens, plan, apply, check --deep, status, state, export in each form, a trial publication, undo; and a
    service that repeats what it was sent."""
    sluice, args = everything.sluice, (*everything.args, "--log", everything.sluice.folder / "log")
    unlocked = args[2:]
    watch.run("check", "--json", "--junit", sluice.folder / "junit.xml", *args).ends(2)
    in_the_screens(everything, canaries, watch, wizard, unlocked)
    assert stored(sluice.secrets, canaries["passphrase"])["oauth.client_secret"] == canaries["client secret"]
    watch.run("plan", *unlocked).ends(2)
    watch.run("apply", "--yes", "--json", *unlocked).ends(0)
    canaries |= made(everything, canaries["passphrase"])
    an_echo(everything, canaries, watch, unlocked)
    watch.run("check", "--deep", "--junit", sluice.folder / "junit.xml", *unlocked).ends(0)
    watch.run("status", "--json").ends(0)
    watch.run("state", "show").ends(0)
    for field in ("oauth.client_secret", "postgres.password", "postgres.admin_password", "iam.access_key", "start.token"):
        watch.run("state", "get", field, *unlocked)
    for form in tree.FORMS:
        in_the_open = form == "plain"
        out = tmp_path / ("clear" if in_the_open else "exported") / form
        out.parent.mkdir(exist_ok=True)
        watch.run("export", "--secrets", form, "-o", out, *unlocked).ends(0)
        if in_the_open:
            only_in_configs(watch, out, canaries)
    watch.run("publish", "--dry-run", *unlocked).ends(0)
    watch.run("undo", "--yes", *unlocked).ends(0)
    watch.add("the database's log", everything.shop.server.log.read_bytes())
    everything_was_seen(watch, sluice)
    assert set(canaries) == set(SECRETS)
    given = "environ of sluice"      # by us, as the AWS CLI is told
    found = [leak for name, secret in canaries.items() for leak in watch.leaks(
        name, secret, halves=name != "Estuary token", but=given if name.startswith("AWS") else "(?!)")]
    assert found + watch.tokens(everything.estuary.anon_key) == []


def in_the_screens(everything, canaries, watch, wizard, unlocked) -> None:  # noqa: F811
    """The client secret, given by reference before, is typed: so it is kept in the secrets file from now on."""
    w = wizard(*unlocked)
    w.to_step("OAuth")
    w.fill("Client secret", canaries["client secret"])
    w.wait_check("logs in", "✓")
    watch.add("a picture", w.picture())
    watch.process(w.pid, "the screens")
    w.press("F6")
    w.settle()
    watch.add("a picture", w.picture())
    w.press("Esc")
    w.quit()
    watch.add("the screens", bytes(w.output))
    watch.files("after the screens")


def an_echo(everything, canaries, watch, unlocked) -> None:  # noqa: F811
    """The encryption service refuses a config and quotes it, the secret with it."""
    quoted = json.dumps([{"instanceLocation": "/credentials", "instanceValue": canaries[name], "detail": "is not of type x"}
                         for name in ("made password", "client secret", "made access key")])
    everything.estuary.faults.add("status", service="encrypt", status=400, count=2,
                                  body=f"failed to validate config against schema: {quoted}")
    done = watch.run("check", "capture.sealed", "materialization.sealed", "--deep", "--json", *unlocked).ends(1)
    assert {check["status"] for name, check in done.checks.items() if name.endswith(".sealed")} == {"failed"}


def made(everything, passphrase: str) -> dict[str, str]:  # noqa: F811
    """What sluice made, read from its secrets file; the account knows the key by itself."""
    held = stored(everything.sluice.secrets, passphrase)
    identity, _, secret = held["iam.access_key"].partition(":")
    assert everything.aws.world.directory.now().keys[identity].secret == secret
    with everything.shop.connect(user="flow_shop", password=held["postgres.password"]) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    return {"made password": held["postgres.password"], "made access key": secret}


def only_in_configs(watch: Watch, out: Path, canaries: dict[str, str]) -> None:
    """Asked for in clear, the three secrets of the connectors stand in their configs, and nowhere else."""
    exported = tree.load(out)
    in_clear = {path for path in out.rglob("*.config.yaml")}
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in in_clear)
    configs = json.dumps([next(iter(exported.catalog[sort].values()))["endpoint"] for sort in ("captures", "materializations")])
    for name in ("made password", "client secret", "made access key"):
        assert json.dumps(canaries[name])[1:-1] in configs, name
    for path in out.rglob("*"):
        if path.is_file() and path not in in_clear:
            watch.add(f"{path.name} (in the clear)", path.read_bytes())
    for name in set(canaries) - {"made password", "client secret", "made access key"}:
        assert not [path for path in in_clear for form in forms(canaries[name]) if form in path.read_bytes()], name


def everything_was_seen(watch: Watch, sluice) -> None:
    """It was looked where they could be."""
    places = {where.split(" (")[0] for where in watch.seen.values()}
    assert {"sluice.yaml", "sluice.yaml.previous", "sluice.secrets", "log", "junit.xml", "recent", "stdout", "the screens",
            "cmdline of sluice", "environ of sluice", "the database's log", "RUNBOOK.md", "report.json", "postgres.sql",
            "source-postgres.config.yaml", "materialize-bauplan.config.yaml"} <= places, places
    assert not [where for where in watch.seen.values() if "a child" in where], "sluice starts no other program"
    assert list((sluice.folder / "tmp").iterdir()) == []


# --- The eyes are good

SECRET = awkward("Kanarie0815") + "abcdefghijklmnopqrstuvwx"
SEEN = {
    "as it is": SECRET, "in a URL": "?x=" + urllib.parse.quote(SECRET), "in a form": urllib.parse.urlencode({"secret": SECRET}),
    "in a path": urllib.parse.quote(SECRET, "").lower(), "in JSON": json.dumps({"a": SECRET}),
    "in JSON as it is": json.dumps([SECRET], ensure_ascii=False), "in SQL": "PASSWORD '" + SECRET.replace("'", "''") + "'",
    "in XML": SECRET.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
    "hex": "0a" + SECRET.encode().hex() + "0b", "HEX": SECRET.encode().hex().upper(), "cut": SECRET[:-20], "its end": SECRET[-14:],
    **{f"Basic, {n}": base64.b64encode(b"u" * n + b":" + SECRET.encode() + b"@").decode() for n in range(3)},
    "Basic of a form": base64.b64encode(f"id:{urllib.parse.quote_plus(SECRET)}".encode()).decode(),
    "base64url": base64.urlsafe_b64encode(SECRET.encode()).decode(),
    "the core by itself": "Kanarie0815",
}


@pytest.mark.parametrize("where", SEEN)
def test_it_is_recognised(sluice, where):
    watch = Watch(sluice, [sluice.folder])
    (sluice.folder / "file").write_text(f"before {SEEN[where]} after")
    watch.files("then")
    watch.add("elsewhere", "Kanari, abcdef, s3cret")
    assert watch.leaks("it", SECRET) and all("in file" in leak for leak in watch.leaks("it", SECRET))
    assert watch.leaks("it", SECRET, but="file") == []


def test_tokens_are_recognised(sluice):
    watch = Watch(sluice, [])
    token, public = (".".join(("eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", name)) for name in ("c2lnbmF0dXJl", "cHVibGljLWtleQ"))
    watch.add("out", f"Bearer {token}, apikey {public}")
    watch.add("environ of sluice", token)
    assert watch.tokens(public) == ["a token in out"]


def test_children_are_seen(sluice, tmp_path):
    """Also a child's child, with its arguments and its environment."""
    script = tmp_path / "program"
    script.write_text("#!/bin/sh\nSECRET=canary-in-the-environment sh -c 'sleep 0.5; :' canary-in-the-arguments\n")
    script.chmod(0o755)
    sluice.program = script
    watch = Watch(sluice, [])
    watch.run("check")
    assert watch.leaks("it", "canary-in-the-environment") and watch.leaks("it", "canary-in-the-arguments")
