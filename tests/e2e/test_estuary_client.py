"""src/estuary against the control plane's stand-in: logging in, renewing, asking, and whatever comes back."""

import base64
import json
import signal
import time

from tests.e2e.estuary_probe import probe, probe_program  # noqa: F401
from tests.services.estuary import tokens
from tests.services.estuary.testing import BAUPLAN_IMAGE, POSTGRES_IMAGE, estuary  # noqa: F401

EXCHANGE = "rpc.generate_access_token"
PREFIXES = "query { prefixes(by: {minCapability: read}) { edges { node { prefix } } } }"
DRAFTS = ("pg", "GET", "drafts", "select=id")


def operations(estuary, operation="*"):
    """The requests so far, by what they do."""
    found = [entry["operation"] for entry in estuary.log.entries(0)]
    return found if operation == "*" else [name for name in found if name == operation]


def jwt(claims):
    """An access token that nobody signed."""
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in ({"alg": "HS256"}, claims)]
    return ".".join([*parts, "c2lnbmVkLWJ5LW5vYm9keQ"])


# Logging in.


def test_refresh_token(estuary, probe):
    ask = probe()
    who = ask.good("who")
    assert who["email"] == "alice@acme.example" and not who["access"] and not who["single_use"]
    assert 3500 < who["until"] - time.time() <= 3601
    ask.good("account")
    ask.good(*DRAFTS)
    assert len(operations(estuary, EXCHANGE)) == 1, "one login for all"


def test_access_token(estuary, probe):
    ask = probe(estuary.access_token())
    who = ask.good("who")
    assert who["email"] == "alice@acme.example" and who["access"]
    ask.good("account")
    ask.good(*DRAFTS)
    assert not operations(estuary, EXCHANGE)


def test_access_token_that_is_over(estuary, probe):
    ended = int(time.time()) - 600
    refused = probe(jwt({"exp": ended, "email": "alice@acme.example"})).bad("refused", "who")
    assert refused.what == "the access token has expired"
    assert time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ended)) in refused.why and "10 minutes ago" in refused.why
    assert "refresh token" in refused.why and "CLI-API" in refused.fix and estuary.url in refused.fix
    assert not operations(estuary), "it is not sent"


def test_access_token_ends_meanwhile(estuary, probe):
    """By the service's clock; ours does not know."""
    ask = probe(estuary.access_token())
    ask.good("account")
    estuary.advance(3700)
    for command in ("graphql", PREFIXES), DRAFTS:
        refused = ask.bad("refused", *command)
        assert "refresh token" in refused.why and "401" in refused.evidence


def test_access_token_of_nobody(estuary, probe):
    ask = probe(jwt({"exp": int(time.time()) + 600}))
    ask.good("who")
    assert "another Estuary" in ask.bad("refused", "graphql", PREFIXES).why
    assert "JWSInvalidSignature" in ask.bad("refused", *DRAFTS).evidence


def test_no_token(estuary, probe):
    probe("flow_sa_abcdefghijkl").bad("input", "who")
    assert not operations(estuary)


def test_renewed_when_it_ends(estuary, probe):
    ask = probe()
    ask.good("account")
    estuary.advance(3700)
    ask.good(*DRAFTS)
    estuary.advance(3700)
    ask.good("graphql", PREFIXES)
    assert len(operations(estuary, EXCHANGE)) == 3


def test_renewed_before_it_ends(estuary, probe):
    """A token that lasts for less than a minute is not used again."""
    ask = probe()
    for life, asked in (60, 1), (60, 2), (3600, 3), (3600, 3):
        estuary.settings.access_token_life = life
        ask.good("who")
        assert len(operations(estuary, EXCHANGE)) == asked


def test_many_threads_one_login(estuary, probe):
    """Also when all of them are told at once that the token is over; and with a token good for one use."""
    ask = probe(estuary.token(multi_use=False))
    for logins in 1, 2, 3:
        assert ask.good("crowd", PREFIXES)["ok"] == 16
        assert len(operations(estuary, EXCHANGE)) == logins
        estuary.advance(3700)


def test_refused_though_new(estuary, probe):
    ask = probe()
    for command, operation in (("graphql", PREFIXES), "prefixes"), (DRAFTS, "drafts.*"):
        estuary.log.clear()
        estuary.faults.add("expired_token", operation=operation, count=0)
        assert "revoked" in ask.bad("refused", *command).why
        assert operations(estuary).count(EXCHANGE) <= 2, "asked once more with a new one, no more"
        assert operations(estuary)[-3::2] == operations(estuary)[-1:] * 2


def test_single_use(estuary, probe):
    """What replaces it lives as long as the process."""
    pasted = estuary.token(multi_use=False)
    ask = probe(pasted)
    assert ask.good("who")["single_use"]
    for _ in range(3):
        estuary.advance(3700)
        ask.good("account")
    assert ask.good("who")["single_use"]
    assert len(operations(estuary, EXCHANGE)) == 4
    refused = probe(pasted).bad("refused", "who")
    assert "has been used" in refused.why and "CLI-API" in refused.fix


def test_single_use_that_is_revoked_later(estuary, probe):
    ask = probe(estuary.token(multi_use=False))
    ask.good("who")
    estuary.world.store.remove("refresh_tokens", lambda row: not row["multi_use"])
    estuary.advance(3700)
    refused = ask.bad("refused", *DRAFTS)
    assert "good for one use" in refused.why


def test_revoked(estuary, probe):
    token = estuary.token(valid_for="1d")
    ask = probe(token)
    ask.good("who")
    estuary.advance(2 * 86400)
    refused = ask.bad("refused", *DRAFTS)
    assert refused.what == "Estuary refuses the token" and "has expired" in refused.why
    assert "refresh_token has expired" in refused.evidence
    asked = len(operations(estuary, EXCHANGE))
    ask.bad("refused", "who")
    assert len(operations(estuary, EXCHANGE)) == asked + 1


def test_wrong_secret(estuary, probe):
    given = json.loads(base64.b64decode(estuary.pasted))
    given["secret"] = given["secret"][::-1]
    probe(base64.b64encode(json.dumps(given).encode()).decode()).bad("refused", "account")


def test_key_of_another_project(estuary, probe):
    other = tokens.sign(estuary.world, {"role": "anon", "exp": 1})
    refused = probe(env={"SLUICE_ESTUARY_ANON_KEY": other}).bad("refused", "who")
    assert "public key" in refused.what and "SLUICE_ESTUARY_ANON_KEY" in refused.fix


def test_exchange_that_fails(estuary, probe):
    """Whatever comes, an exchange is not repeated by itself: it may have spent the token."""
    faults = [
        ({"kind": "captive"}, "protocol"), ({"kind": "status", "status": 503, "body": "no"}, "unreachable"),
        ({"kind": "status", "status": 404, "body": "no"}, "protocol"), ({"kind": "throttle"}, "unreachable"),
        ({"kind": "redirect", "status": 307}, "protocol"), ({"kind": "status", "status": 200, "body": "{}"}, "protocol"),
        ({"kind": "status", "status": 200, "body": '{"access_token": "x\\u001b[31m"}'}, "protocol"),
        ({"kind": "status", "status": 200, "body": '"eyJzZWNyZXQ"'}, "protocol"),
        ({"kind": "truncated"}, "protocol"), ({"kind": "lost_reply"}, "unreachable")]
    ask = probe()
    for fault, kind in faults:
        estuary.log.clear()
        estuary.faults.add(operation=EXCHANGE, **fault)
        failed = ask.bad(kind, "who")
        assert operations(estuary) == [EXCHANGE] and "eyJz" not in str(failed.evidence), fault
    ask.good("who")


# Where tokens go.


def test_each_service_gets_its_own(estuary, probe):
    """The public key goes to PostgREST alone; the refresh token nowhere but into the exchange."""
    seen = []
    handle = estuary.front.handle

    def watch(request):
        seen.append((request.path, request.header("authorization") or "", request.header("apikey") or ""))
        return handle(request)

    estuary.front.handle = watch
    try:
        ask = probe()
        ask.good("account")
        ask.good(*DRAFTS)
    finally:
        del estuary.front.handle
    for path, bearer, key in seen:
        assert bool(key) == path.startswith("/rest/v1/"), path
        assert bearer.startswith("Bearer eyJ") and bearer.count(".") == 2 or path.endswith("generate_access_token")


def test_redirect_to_itself(estuary, probe):
    for location in "", "/api/graphql?started=2026-11-30T10:00:00.000Z", estuary.url + "/api/graphql":
        estuary.faults.clear()
        estuary.faults.add("redirect", service="graphql", status=307, location=location)
        assert probe()("graphql", PREFIXES).json["prefixes"]["edges"], location


def test_redirect_five_times(estuary, probe):
    estuary.faults.add("redirect", service="graphql", status=307, count=5)
    ask = probe()
    ask.good("graphql", PREFIXES)
    estuary.faults.add("redirect", service="graphql", status=307, count=0)
    asked = len(operations(estuary, "prefixes"))
    assert "circles" in ask.bad("protocol", "graphql", PREFIXES).what
    assert len(operations(estuary, "prefixes")) == asked + 6


def test_redirect_elsewhere(estuary, probe):
    """Nobody but the API gets the token."""
    other, ask = estuary.control_url.rpartition(":")[2], probe()
    ask.good("who")
    for location in (f"https://localhost:{other}/api/graphql", f"http://localhost:{estuary.port}/api/graphql",
                     f"//127.0.0.1:{other}/x", f"https://localhost:{estuary.port}@127.0.0.1:{other}/", "x"):
        estuary.log.clear()
        estuary.faults.add("redirect", service="graphql", status=307, location=location)
        refused = ask.bad("protocol", "graphql", PREFIXES)
        assert refused.code == "redirect" and refused.evidence.endswith("Location: " + location)
        assert operations(estuary) == ["prefixes"]


def test_other_redirects_are_not_followed(estuary, probe):
    estuary.faults.add("redirect", service="graphql", status=302)
    estuary.faults.add("redirect", service="pg", operation="drafts.*", status=307)
    ask = probe()
    assert ask.bad("protocol", "graphql", PREFIXES).code == "http 302"
    assert ask.bad("protocol", *DRAFTS).code == "http 307"


def test_no_http_but_to_this_machine(estuary, probe):
    refused = probe(env={"SLUICE_ESTUARY_PG_URL": "http://pg.example.com/rest/v1"})("who")
    assert not refused.ok and refused.kind == "input" and "without encryption" in refused.what


# What comes back.


def test_account(estuary, probe):
    found = probe().good("account")
    assert found["prefixes"]["acmeCo/"] == "admin" and found["prefixes"]["betaCo/"] == "write"
    assert list(found["prefixes"]) == sorted(found["prefixes"]) and not found["cut"]
    plane = found["planes"]["ops/dp/public/aws-us-east-1-c2"]
    assert (plane["cloud"], plane["region"], plane["public"], plane["closed"]) == ("aws", "us-east-1", True, False)
    assert len(plane["cidrs"]) == 6 and plane["cidrs"][0].endswith("/32")
    assert found["planes"]["ops/dp/public/gcp-us-central1-c1"]["closed"]
    assert found["mappings"]["acmeCo/"][0] == "ops/dp/public/aws-us-east-1-c2"


def test_pages(estuary, probe):
    estuary.settings.page_size = 2
    names = [f"team{n:02}/" for n in range(15)]
    for name in names:
        estuary.grant(name, "read")
    found = probe().good("account")
    assert set(names) <= set(found["prefixes"]) and len(found["planes"]) >= 4 and not found["cut"]
    assert len(operations(estuary, "prefixes")) == (len(found["prefixes"]) + 1) // 2


def test_too_many(estuary, probe):
    for n in range(2100):
        estuary.world.store.add("user_grants", {"user_id": estuary.world.user("alice@acme.example")["id"],
                                                "object_role": f"many/{n:04}/", "capability": "read"})
    found = probe().good("account")
    assert found["cut"] and len(found["prefixes"]) == 2000


def test_cursor_that_stands_still(estuary, probe):
    page = {"data": {"prefixes": {"edges": [{"node": {"prefix": "acmeCo/", "userCapability": "admin"}}],
                                  "pageInfo": {"hasNextPage": True, "endCursor": "same"}}}}
    estuary.faults.add("status", service="graphql", operation="prefixes", status=200, body=json.dumps(page), count=0)
    probe().good("account")
    assert len(operations(estuary, "prefixes")) == 2


def test_connector(estuary, probe):
    ask = probe()
    found = ask.good("connector", POSTGRES_IMAGE)
    assert found["exact"] and found["tag"] == ":v3" and found["image"] == POSTGRES_IMAGE.rpartition(":")[0]
    assert found["properties"] > 3
    (tag,) = ask("pg", "GET", "connector_tags", f"select=id,image_tag&id=eq.{found['id']}").json
    assert tag["image_tag"] == ":v3", "the id is the one that discovers take"
    other = ask.good("connector", POSTGRES_IMAGE[:-1] + "9")
    assert not other["exact"] and other["tag"] not in (":v9", None) and other["id"]
    unknown = ask.good("connector", "ghcr.io/estuary/source-nothing:v1")
    assert unknown["id"] is None and unknown["tag"] is None and not unknown["exact"] and unknown["properties"] == -1
    assert ask("connector", "localhost:5000/source-postgres").kind == "input"
    estuary.settings.knows_bauplan = False
    assert ask.good("connector", BAUPLAN_IMAGE)["id"] is None


def test_live(estuary, probe):
    for name, sort in ("acmeCo/shop/orders", "collection"), ("acmeCo/shop/in", "capture"):
        estuary.put_live(name, sort, {})
    names = [f"acmeCo/shop/none-{n}" for n in range(230)]
    names[110], names[220] = "acmeCo/shop/orders", "acmeCo/shop/in"
    estuary.settings.page_size = 60
    assert probe().good("live", ",".join(names)) == {"acmeCo/shop/orders": "collection", "acmeCo/shop/in": "capture"}


def test_graphql_errors(estuary, probe):
    ask = probe()
    kinds = {"PermissionDenied": "denied", "NotFound": "missing", "InvalidArgument": "input", "Unavailable": "unreachable",
             "Oops": "protocol"}
    for word, kind in kinds.items():
        estuary.faults.add("error", service="graphql", code=word, message="nothing \x1b[31mgood\u202e here")
        failed = ask.bad(kind, "graphql", PREFIXES)
        assert failed.code == ("graphql" if word == "Oops" else word)
        assert f"{word}: nothing ^[[31mgood" in failed.what and "\u202e" not in failed.what
    assert len(operations(estuary, "prefixes")) == len(kinds)


def test_graphql_denied_says_what_is_missing(estuary, probe):
    estuary.faults.add("denied", service="graphql", reason="not for you")
    assert "CatalogRead" in probe().bad("denied", "graphql", PREFIXES).why


def test_graphql_unauthenticated(estuary, probe):
    """Also in the words of the service's library; a new token is tried once."""
    for message in "Unauthenticated: who are you", "status: 'The request does not have valid authentication credentials'":
        estuary.log.clear()
        estuary.faults.clear()
        body = json.dumps({"data": None, "errors": [{"message": message}]})
        estuary.faults.add("status", service="graphql", status=200, body=body, count=2)
        ask = probe()
        ask.bad("refused", "graphql", PREFIXES)
        assert operations(estuary) == [EXCHANGE, "prefixes"] * 2
        ask.good("graphql", PREFIXES)


def test_graphql_query_that_is_wrong(estuary, probe):
    assert "nonsense" in probe().bad("protocol", "graphql", "query { nonsense }").what


def test_graphql_variables(estuary, probe):
    query = "query($n: [Name!], $f: Int) { liveSpecs(by: {names: $n}, first: $f) { edges { node { catalogName } } } }"
    estuary.put_live("acmeCo/é \"x\"", "collection", {})
    found = probe()("graphql", query, json.dumps({"n": ["acmeCo/é \"x\"", "acmeCo/b"], "f": 1}))
    assert [edge["node"]["catalogName"] for edge in found.json["liveSpecs"]["edges"]] == ["acmeCo/b"]


def test_hostile_answers(estuary, probe):
    ask = probe()
    for form in "dtd", "deep", "wrong-root", "huge-number", "not-utf8", "empty", "endless":
        estuary.faults.add("hostile", service="graphql", form=form)
        assert len(ask.bad("protocol", "account").evidence) < 1000, form
    for form in "dtd", "deep", "not-utf8", "empty":
        estuary.faults.add("hostile", service="pg", operation="drafts.*", form=form)
        answer = ask(*DRAFTS)
        assert answer.ok if form == "empty" else answer.kind == "protocol", form


def test_portal(estuary, probe):
    estuary.faults.add("captive", service="graphql")
    estuary.faults.add("captive", service="pg", operation="drafts.*")
    ask = probe()
    for command in ("graphql", PREFIXES), DRAFTS:
        assert "web page" in ask.bad("protocol", *command).what


def test_reads_wait_and_are_repeated(estuary, probe):
    estuary.faults.add("throttle", service="graphql", retry_after="1")
    estuary.faults.add("status", service="pg", operation="drafts.*", status=503, body="busy")
    ask = probe()
    assert ask("graphql", PREFIXES).ms >= 1000
    ask.good(*DRAFTS)
    estuary.faults.add("throttle", service="graphql", retry_after="120")
    assert "Wait 120 s" in ask.bad("unreachable", "graphql", PREFIXES).fix


def test_writes_are_not_repeated(estuary, probe):
    estuary.faults.add("status", service="pg", operation="drafts.insert", status=503, body="busy")
    estuary.faults.add("throttle", service="graphql", operation="createRefreshToken")
    ask = probe()
    ask.bad("unreachable", "pg", "POST", "drafts", None, '{"detail": "x"}')
    ask.bad("unreachable", "graphql", "mutation { createRefreshToken { id } }")
    assert operations(estuary)[1:] == ["drafts.insert", "createRefreshToken"]


# Tables.


def test_rows(estuary, probe):
    ask = probe()
    made = ask("pg", "POST", "drafts", "select=id,detail", '{"detail": "it is"}').json
    assert made[0]["detail"] == "it is"
    draft = f"id=eq.{made[0]['id']}"
    assert ask("pg", "GET1", "drafts", f"select=detail&{draft}").json == {"detail": "it is"}
    assert ask.good("pg", "DELETE", "drafts", draft)["json"] is None
    missing = ask.bad("missing", "pg", "GET1", "drafts", f"select=detail&{draft}")
    assert missing.code == "PGRST116" and "its table drafts" in missing.what and "0 rows" in missing.evidence


def test_errors_of_tables(estuary, probe):
    ask = probe()
    for code, status, kind in (
            ("42501", 403, "denied"), ("42501", 401, "denied"), ("23505", 409, "conflict"), ("23514", 400, "conflict"),
            ("22P02", 400, "input"), ("57014", 500, "unreachable"), ("PGRST205", 404, "protocol"), ("XX000", 500, "protocol")):
        estuary.faults.add("error", service="pg", operation="drafts.insert", code=code, status=status, message="no\x1b[2J such")
        failed = ask.bad(kind, "pg", "POST", "drafts", None, '{"detail": "x"}')
        assert failed.code == code and failed.what == "Estuary says of its table drafts: no^[[2J such"
    assert len(operations(estuary, EXCHANGE)) == 1


# Time.


def test_cancelled_while_it_hangs(estuary, probe):
    ask = probe()
    for command, operation in (("who",), EXCHANGE), (("graphql", PREFIXES), "prefixes"), (DRAFTS, "drafts.select"):
        estuary.faults.add("hold", operation=operation, stage="before")
        ask.send("cancel", *command)
        assert estuary.faults.held(10), command
        ask.process.send_signal(signal.SIGUSR1)
        cancelled = ask.answer()
        assert not cancelled.ok and cancelled.kind == "cancelled" and cancelled.ms < 200, cancelled
        estuary.faults.release()
        ask.good(*command)


def test_deadline(estuary, probe):
    estuary.faults.add("hold", service="graphql", stage="before")
    late = probe(deadline_ms=600)("graphql", PREFIXES)
    assert late.kind == "unreachable" and 500 < late.ms < 3000
    estuary.faults.release()
