"""The whole way at the services' real names. Nothing tells sluice of stand-ins: no address of a service is replaced, no name
can be looked up, and a company's proxy (HTTPS_PROXY) is the only way out. What is asked for, signed and certified are
therefore the names that production has. Only PostgreSQL is reached directly: proxies of this kind do not carry it."""

import http.client
import json
import ssl
import time
from collections import defaultdict
from types import SimpleNamespace

import pytest
import yaml

from tests.e2e import stands
from tests.e2e.aws_account import LAKE, STAGING, assert_empty, assert_green, aws, told  # noqa: F401
from tests.e2e.test_export import TARGET
from tests.services import answers as prefilled
from tests.services.connect_proxy import ConnectProxy
from tests.services.estuary.testing import estuary  # noqa: F401
from tests.services.tls import bundle

CATALOG = "api.use1.aprod.bauplanlabs.com"
SERVICES = {"iam": {"iam.amazonaws.com"},
            **{name: {f"{name}.us-east-1.amazonaws.com"} for name in ("sts", "ec2", "ssm", "emr-serverless")},
            "s3": {f"{bucket}.s3.us-east-1.amazonaws.com" for bucket in (LAKE, STAGING)}}
AWS = set().union(*SERVICES.values())
ESTUARY = {"api.estuary.dev", "eyrcnmuzzyriypdajwdk.supabase.co", "config-encryption.estuary.dev", "dashboard.estuary.dev"}
ASKED_OF_ESTUARY = ESTUARY - {"dashboard.estuary.dev"}    # that one is a link for people
OVERRIDES = ("AWS_ENDPOINT_URL", "SLUICE_ESTUARY", "SLUICE_OAUTH_URL")


@pytest.fixture
def away(sluice, catalog, catalog_variant, authority, shop, aws, estuary, hang_dns, tmp_path):  # noqa: F811
    """sluice on a machine that knows no name and has a proxy, with the real addresses in its answers: .sluice .args
    .proxy, and the stand-ins .catalog (nginx with the catalog's real name) .aws .estuary .shop"""
    aws.make_bucket(LAKE)
    bauplan = catalog_variant(certificate=authority.issue("bauplan", (CATALOG,)))
    routes = {f"{name}:443": ("127.0.0.1", port) for names, port in (
        ({CATALOG}, bauplan.port), (AWS, aws.port), (ESTUARY, estuary.port)) for name in names}

    folder = tmp_path / "ready"
    account = prefilled.Estuary({}, estuary.settings.tenant, estuary.pasted, "")
    services = (catalog, shop.server, shop.database, told(aws), account)
    prefilled.write(folder, *services)
    values = prefilled.answers(folder, *services)
    values["oauth"]["url"] = f"https://{CATALOG}/iceberg"
    values["postgres"]["host"] = "127.0.0.1"    # not even localhost is known
    values["materialization"]["hard_delete"] = "no"    # the other takes a discovery before all else
    given = folder / "answers.yaml"
    given.write_text(yaml.safe_dump(values, sort_keys=False, allow_unicode=True))
    authorities = bundle(folder / "authorities.pem", *(each.ca_file for each in (catalog, aws, estuary)))
    # Estuary's own connectors have no proxy here: they ask the database, and not what goes by its real name.
    estuary.settings.update({"reach_postgres": True, "connector_ca": str(authorities)})
    passphrase = ("--passphrase-file", folder / "passphrase")
    with ConnectProxy(routes) as proxy:
        for name in [name for name in sluice.env if name.startswith(OVERRIDES)]:    # which every other test is given
            del sluice.env[name]
        sluice.env |= {"HTTPS_PROXY": proxy.url, "SLUICE_CA_FILE": str(authorities),
                       "AWS_ACCESS_KEY_ID": aws.admin_key, "AWS_SECRET_ACCESS_KEY": aws.admin_secret}
        sluice.env = hang_dns("*", env=sluice.env)
        assert not [name for name in sluice.env if name.startswith(OVERRIDES)]
        yield SimpleNamespace(sluice=sluice, proxy=proxy, catalog=bauplan, aws=aws, estuary=estuary, shop=shop,
                              authorities=authorities, passphrase=passphrase, args=("--answers", given, *passphrase))


def test_the_whole_way(away, tmp_path):
    """check, apply, check --deep, export and undo, each with its code, at exactly the names that production has."""
    sluice, target = away.sluice, tmp_path / "out"
    sluice.run("check", *away.args).ends(2)
    sluice.run("apply", "--yes", *away.args).ends(0)
    done = sluice.run("check", "--deep", "--json", *away.args).ends(0)
    assert done.json["ok"] is True
    passed = {name for name, check in done.checks.items() if check["status"] == "passed"}
    assert {"start.clock", "start.network", "oauth.reach", "oauth.login", "postgres.cdc_round_trip", "emr.application",
            "bucket.lake_access", "bucket.staging_access", "iam.key_works", "iam.replay", "iam.denied",
            "start.login", "start.prefix", "start.plane", "capture.sealed", "capture.discovery", "capture.drafts",
            "materialization.connector", "materialization.live", "materialization.sealed", "materialization.dry_run"} <= passed
    sluice.run("export", "--secrets", "placeholder", "-o", target, *away.passphrase).ends(0)
    assert_real_names_only(away, target)
    assert_tunnels(away)
    assert_requests(away.aws.log.entries())
    assert_green(away.aws)
    stands.assert_green(away.shop)

    mark = away.aws.log.mark()
    sluice.run("undo", "--yes", *away.passphrase).ends(0)
    assert_tunnels(away)
    assert_requests(away.aws.log.entries(mark))
    assert_empty(away.aws)
    stands.assert_nothing_made(away.shop)


def assert_tunnels(away) -> None:
    """The proxy was asked for nothing else, and learnt nothing but the names."""
    asked = away.proxy.asked
    assert {each.host for each in asked} == {CATALOG} | AWS | ASKED_OF_ESTUARY
    assert {(each.port, each.code) for each in asked} == {(443, 200)}
    assert set().union(*(each.headers for each in asked)) <= {"host", "user-agent", "proxy-connection"}
    assert {entry["host"] for entry in away.estuary.log.entries()} == ASKED_OF_ESTUARY


def assert_requests(entries: list[dict]) -> None:
    """Each came to its service's own name, which was signed and found right; a bucket is in the name, not in the path."""
    hosts = defaultdict(set)
    for entry in entries:
        hosts[entry["service"]].add(entry["host"])
        if (entry["action"], entry["key"]) != ("s3:HeadBucket", ""):    # whose region anybody may ask for
            assert entry["caller"] and "host" in entry["signed_headers"], entry
        if entry["service"] == "s3":
            assert not entry["target"].startswith((f"/{LAKE}", f"/{STAGING}")), entry
    assert all(hosts[name] <= SERVICES[name] for name in hosts), hosts
    assert hosts["s3"] and hosts["iam"] and hosts["emr-serverless"], hosts


def assert_real_names_only(away, target) -> None:
    """What is kept and handed on has the real address, and none of a stand-in."""
    config = yaml.safe_load((target / f"{TARGET}.config.yaml").read_text())
    assert config["url"].startswith(f"https://{CATALOG}/iceberg")
    ports = [away.catalog.port, away.aws.port, away.estuary.port]
    for path in [away.sluice.state, *(path for path in target.rglob("*") if path.is_file())]:
        text = path.read_text()
        assert not [port for port in ports if f"127.0.0.1:{port}" in text or f"localhost:{port}" in text], path


def test_each_name_has_its_certificate(away):
    """What the proxy leads to can be verified at each name, Estuary's too; another client says so."""
    context = ssl.create_default_context(cafile=str(away.authorities))
    for name in sorted({CATALOG} | AWS | ESTUARY):
        client = http.client.HTTPSConnection(away.proxy.host, away.proxy.port, context=context, timeout=10)
        client.set_tunnel(name, 443)
        client.request("HEAD", "/")
        assert client.getresponse().status < 500, name
        client.close()
    assert away.proxy.hosts(200) == {CATALOG} | AWS | ESTUARY


# What a company's proxy does with a host -> what sluice says has to be done.
REFUSALS = {403: "Have the proxy allow {host}:443", 407: "Put user and password into HTTPS_PROXY",
            502: "Try again; if it stays, have whoever runs the proxy see why it does not reach {host}:443"}
DOORS = {"oauth.reach": CATALOG, "emr.identity": "sts.us-east-1.amazonaws.com", "start.login": "eyrcnmuzzyriypdajwdk.supabase.co"}


@pytest.mark.parametrize("code", REFUSALS)
def test_refused_by_the_proxy(away, code):
    """Proxy, host and remedy are named, for the catalog, AWS and Estuary; nothing waits, and nobody asks twice."""
    proxy = away.proxy
    if code == 403:
        proxy.routes.clear()
    elif code == 407:
        proxy.login = "alice:her-long-word"
    else:
        proxy.routes = dict.fromkeys(proxy.routes, ("127.0.0.1", 1))
    done = away.sluice.run("check", "start", "oauth", "emr", "--json", *away.args, timeout=30).ends(4)
    for name, host in DOORS.items():
        check = done.checks[name]
        assert (check["status"], check["code"]) == ("unreachable", f"proxy {code}"), check
        assert f"127.0.0.1:{proxy.port}" in check["line"] and host in check["line"], check
        assert REFUSALS[code].format(host=host) in check["fix"], check
    network = done.checks["start.network"]    # of the first door that is closed
    assert REFUSALS[code].format(host=CATALOG) in network["fix"] and network["why"].endswith("will say so again."), network
    assert {each.code for each in proxy.asked} == {code}
    asked = [each.host for each in proxy.asked]
    assert [asked.count(host) for host in (DOORS["emr.identity"], DOORS["start.login"])] == [1, 1], asked
    assert not away.aws.log.entries() and not away.estuary.log.entries()


def test_proxy_with_a_login(away):
    """The login in HTTPS_PROXY is given to the proxy and told nowhere, be it right or wrong."""
    proxy, log = away.proxy, away.sluice.folder / "log"
    proxy.login = "alice:her-long-word"
    for word, code in (("not-her-word", 4), ("her-long-word", 2)):    # 2: the application is still to be made
        proxy.clear()
        done = away.sluice.run("check", "start", "oauth", "emr", "--json", "--log", log, *away.args,
                               env={"HTTPS_PROXY": f"http://alice:{word}@127.0.0.1:{proxy.port}"}).ends(code)
        assert {each.code for each in proxy.asked} == {407 if code == 4 else 200}
        if code == 4:    # a second one might lock the account
            assert len(proxy.asked) == 1, proxy.asked
            for name, host in DOORS.items():
                check = done.checks[name]
                assert check["code"] == "proxy 407" and host in check["line"], check
                assert "Correct user and password in HTTPS_PROXY" in check["fix"], check
        assert f"127.0.0.1:{proxy.port}" in done.checks["start.network"]["line"]
        for text in (done.out, done.err, log.read_text(), away.sluice.state.read_text()):
            assert word not in text


def test_proxy_that_hangs(away):
    """It takes the connection and never answers: the step Start says so after a moment."""
    away.proxy.silent = frozenset({CATALOG})
    done = away.sluice.run("check", "start", "--json", *away.args, timeout=20)
    items = {item["name"]: item for item in done.checks["start.network"]["items"]}
    assert_hanging(away, items["catalog"])
    assert items["PostgreSQL"]["status"] == "passed"
    assert json.dumps(done.json).count("cancelled") == 0


def test_timeout_with_a_proxy_that_hangs(away):
    """When the time given is over, what was waited for is told: host, proxy and phase."""
    away.proxy.silent = frozenset(DOORS.values())
    done = away.sluice.run("check", "oauth", "emr", "--timeout", "3", "--json", *away.args, timeout=20).ends(4)
    for name in ("oauth.reach", "emr.identity"):
        check = done.checks[name]
        assert check["status"] == "cancelled" and DOORS[name] in check["line"], check
        assert f"connecting through the proxy 127.0.0.1:{away.proxy.port}" in check["line"], check


@pytest.mark.long
def test_proxy_that_hangs_for_long(away):
    """The checks that need the catalog and AWS give it ten seconds, and not again and again."""
    away.proxy.silent = frozenset(DOORS.values())
    began = time.monotonic()
    done = away.sluice.run("check", "oauth", "emr", "--json", *away.args).ends(4)
    assert time.monotonic() - began < 18
    for name in ("oauth.reach", "emr.identity"):
        assert_hanging(away, done.checks[name], DOORS[name])
        assert "through the proxy" in done.checks[name]["evidence"], done.checks[name]


def assert_hanging(away, said: dict, host: str = CATALOG) -> None:
    assert f"through the proxy 127.0.0.1:{away.proxy.port}" in said["line"] and host in said["line"], said
    assert "HTTPS_PROXY" in said["fix"] and "NO_PROXY" in said["fix"] and f"{host}:443" in said["fix"], said
