"""When two exported folders say the same, and two worlds hold the same.

told() reads a folder with what may differ between two equal set-ups replaced, and nothing else:

    times                               when each check ran, how many milliseconds it took
    measures of the moment              positions in the server's log, connections that were free
    ids that AWS gives                  of the application, of the access key (given by the caller)
    made secrets                        the capture user's password, the key's secret; each is first found to be the right one
    what the encryption service adds    the configs are opened: all of them is compared, in its order
    sums of files                       SHA256SUMS is found to be right, then left out
    what undo takes back                changes that do not wait for each other are made side by side, in no fixed order"""

import json
import re
from pathlib import Path

import yaml

from tests.e2e import tree

NUMBERS = ((re.compile(r'"ms":\d+'), '"ms":MS'), (re.compile(r"\b\d+ ms\b"), "MS ms"),
           (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(Z|\b)"), "TIME"),
           (re.compile(r"\b[0-9A-F]+/[0-9A-F]{6,}\b"), "POSITION"), (re.compile(r"\b\d+( of \d+ free)\b"), r"FREE\1"))
TAKEN_BACK = "then takes back what sluice made, newest first:\n"


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def told(folder: Path, opened, ids: dict[str, str], secrets: dict[str, str]) -> dict[str, str]:
    """Each file but the sums as text. opened: opens a sealed config; ids, secrets: by the name that is to stand for each."""
    assert list(tree.sums(folder)) == []
    found = {}
    for name, held in files(folder).items():
        if name.endswith(".config.yaml"):
            found[name] = json.dumps(_without(opened(yaml.safe_load(held)), secrets), indent=1)
        elif name != tree.SUMS:
            found[name] = held.decode()
            assert not [secret for secret in secrets.values() if secret in found[name]], name
        for identity, value in ids.items():
            if name in found:
                found[name] = found[name].replace(value, identity)
        for pattern, instead in NUMBERS if name in ("RUNBOOK.md", "report.json") else ():
            found[name] = pattern.sub(instead, found[name])
    before, there, after = found["RUNBOOK.md"].partition(TAKEN_BACK)
    found["RUNBOOK.md"] = "\n".join([before + there, *sorted(after.splitlines())])
    return found


def _without(config, secrets: dict[str, str]):
    """A config with names in place of made secrets; one of them stands there, or the config would go unnoticed."""
    text = json.dumps(config)
    for name, secret in secrets.items():
        text = text.replace(json.dumps(secret), json.dumps(name))
    assert any(json.dumps(name) in text for name in secrets), "a sealed secret is another one than was made"
    return json.loads(text)


# --- Worlds

RIGHTS = "array(SELECT a::text FROM aclexplode(coalesce({0}, acldefault('{1}', {2}))) a ORDER BY 1)"
OBJECTS = (
    "SELECT rolname::text, rolsuper, rolreplication, rolbypassrls, rolcanlogin, rolinherit, rolcreaterole, rolcreatedb FROM pg_roles",
    "SELECT roleid::regrole::text, member::regrole::text FROM pg_auth_members",
    f"SELECT datname::text, {RIGHTS.format('datacl', 'd', 'datdba')} FROM pg_database",
    f"SELECT nspname::text, {RIGHTS.format('nspacl', 'n', 'nspowner')} FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp'",
    "SELECT oid::regclass::text, relkind::text, relreplident::text, relowner::regrole::text,"
    f" {RIGHTS.format('relacl', 'r', 'relowner')} FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'S', 'f', 'i')",
    "SELECT indexrelid::regclass::text, indisreplident FROM pg_index",
    "SELECT pubname::text FROM pg_publication",
    "SELECT slot_name::text FROM pg_replication_slots",
    "SELECT defaclrole::regrole::text, defaclacl::text FROM pg_default_acl")


def world(there) -> dict[str, object]:
    """Everything that a set-up could have made or changed, as it is now."""
    held = {f"PostgreSQL, {query.rsplit('FROM ', 1)[1].split()[0]}": sorted(map(repr, there.shop.query(query)))
            for query in OBJECTS}
    status, _, body = there.catalog.request("GET", f"/api/v2/trees/{there.catalog.branch}/entries", token=there.catalog.token())
    assert status == 200, body
    return {**held, "AWS": there.aws.contents(), "Estuary": there.estuary.contents(), "catalog": sorted(
        ".".join(entry["name"]["elements"]) for entry in json.loads(body)["entries"])}
