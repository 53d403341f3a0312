"""The stand-in as one object: started and stopped, given faults, moved in time, asked what happened."""

from __future__ import annotations

import atexit
import copy
import dataclasses
import tempfile
from pathlib import Path
from typing import Any

from tests.services.aws.clock import Clock
from tests.services.aws.faults import Faults
from tests.services.aws.listener import Server
from tests.services.aws.messages import Answer, Delivery, Request
from tests.services.aws.request_log import RequestLog
from tests.services.tls import Authority

from . import seed, sops, tokens
from .age import Identity
from .control import ControlServer
from .front import Front
from .jobs import Jobs
from .settings import Settings
from .store import Row, new_id
from .world import World, stamp

#: Names the certificate is good for: the loopback, and Estuary's own names for clients that are led here by name.
NAMES = ("127.0.0.1", "::1", "localhost", "api.estuary.dev", "config-encryption.estuary.dev", "dashboard.estuary.dev",
         "*.supabase.co", "*.us-central1.run.app")
_KEPT = "control-plane.json"


class EstuaryStandIn:
    """Estuary's control plane on a loopback port.

    with EstuaryStandIn(folder) as estuary:
        env = estuary.environment()      # what a client needs besides estuary.pasted, its refresh token
        estuary.faults.add("expired_token", service="pg", nth=3)
        ...
        assert estuary.contents() == {"drafts": [], …}

    Leaving the block fails the test if a fault was never met, the stand-in met a request it does not know, or a secret
    came in clear where it would be kept."""

    _shared: EstuaryStandIn | None = None

    def __init__(self, folder: Path | None = None, settings: Settings | None = None, rate: float = 1.0,
                 authority: Authority | None = None) -> None:
        self.settings = settings or Settings()
        self._as_given = copy.deepcopy(self.settings)
        self._rate = rate
        self._temporary = tempfile.TemporaryDirectory(prefix="estuary-") if folder is None else None
        self.folder = Path(folder or self._temporary.name)  # type: ignore[union-attr]
        self.clock = Clock(rate)
        self.faults, self.log = Faults(), RequestLog()
        self.world = World(self.settings, self.clock)
        self._given_authority = authority
        self._servers: list[Server] = []
        self._keep = False
        self._saved = -1
        #: The refresh token of the tenant's user, as the dashboard shows it.
        self.pasted = ""

    # Life.

    @classmethod
    def shared(cls) -> EstuaryStandIn:
        """The one of this process, started when it is first asked for and stopped at the end: for fixtures. Its
        connectors do not ask PostgreSQL unless a test says so."""
        if cls._shared is None:
            cls._shared = cls(settings=Settings(reach_postgres=False)).start()
            atexit.register(cls._shared.stop)
        return cls._shared

    def start(self, ports: tuple[int, int] = (0, 0), keep: bool = False) -> EstuaryStandIn:
        """Listen: on these ports (services, control) if they are free, else on free ones.

        keep: take up what an earlier process left in the folder, and leave it for the next."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.authority = self._given_authority or Authority(self.folder / "ca", "Estuary stand-in CA")
        self.world.ca_file = self.authority.ca_file
        issued = self.authority.issue("estuary", NAMES)
        self._certificate = (issued.cert_file, issued.key_file)
        self._keep = keep
        self._begin(self.folder / _KEPT if keep else None)
        self._server = self._listen(port=ports[0])
        self._control = ControlServer(self, ports[1]).start()
        return self

    def _begin(self, kept: Path | None) -> None:
        world = self.world
        before = world.store.load(kept) if kept else None
        if before:
            world.jwt_secret, world.identity = before["jwt_secret"], Identity.read(before["identity"])
            self.pasted = before["pasted"]
            self.clock.advance(max(0.0, before["now"] - self.clock.now()))
        else:
            seed.begin(world)
            self.pasted = self.pasted or seed.first_token(world)
        self._first_token = copy.deepcopy(world.store.tables["refresh_tokens"][:1])
        self.jobs = Jobs(world)
        self.jobs.restart()
        self.front = Front(world, self.jobs, self.faults, self.log)
        self.front.after = self._save
        self._save()

    def _save(self) -> None:
        if self._keep and self.world.store.changes != self._saved:
            self._saved = self.world.store.changes
            self.world.store.save(self.folder / _KEPT, {
                "jwt_secret": self.world.jwt_secret, "identity": self.world.identity.text, "pasted": self.pasted,
                "now": self.clock.now()})

    def save(self) -> None:
        """Keep what has changed, if anything is to be kept."""
        with self.front.lock:
            self._save()

    def _listen(self, certificate: tuple[Path, Path] | None = None, port: int = 0) -> Server:
        def handle(request: Request) -> tuple[Answer, Delivery]:
            return self.front.handle(request)

        given = (handle, lambda: self.world.wall(), certificate or self._certificate, None, self.settings.keep_alive)
        try:
            server = Server(*given, port)
        except OSError:
            server = Server(*given)
        self._servers.append(server.start())
        return server

    def stop(self) -> None:
        """Stop listening; what waits in a hold is let go."""
        self.faults.release()
        for server in self._servers:
            server.stop()
        self._servers.clear()
        self._control.stop()
        self.jobs.wait(5.0)
        self.save()
        if self._temporary:
            self._temporary.cleanup()

    def reset(self) -> None:
        """As at the start: the same user, keys and token, the settings as given, no faults."""
        self.faults.clear()
        with self.front.lock:
            store, world = self.world.store, self.world
            kept = {"users": store.tables["users"][:1], "refresh_tokens": copy.deepcopy(self._first_token)}
            store.tables = kept
            self.settings.__dict__.update(copy.deepcopy(self._as_given).__dict__)
            self.clock.reset(self._rate)
            world.clear.clear()
            world.next_discovers.clear()
            world.next_publications.clear()
            world.statuses.clear()
            kept["refresh_tokens"][0].update(updated_at=world.now())
            seed.begin(world)
            self.log.clear()
            self.front.defects.clear()
            self.front.after()

    def findings(self) -> dict[str, list[Any]]:
        """What a test should not have left behind."""
        return {"unmet": [dataclasses.asdict(fault) for fault in self.faults.unmet()], "defects": self.front.defects,
                "clear": [] if self.settings.allow_clear else self.world.clear}

    def check(self) -> None:
        """Fail if there is any such finding."""
        found = {name: entries for name, entries in self.findings().items() if entries}
        if found:
            raise AssertionError(f"the stand-in for Estuary's control plane: {found}")

    def __enter__(self) -> EstuaryStandIn:
        return self.start()

    def __exit__(self, kind: object, *_: object) -> None:
        self.stop()
        if kind is None:
            self.check()

    # For clients.

    @property
    def url(self) -> str:
        """The origin of all services."""
        return self._server.url

    @property
    def port(self) -> int:
        """The port of all services."""
        return self._server.port

    @property
    def control_url(self) -> str:
        """The control endpoint (plain HTTP, another port)."""
        return self._control.url

    @property
    def ca_file(self) -> Path:
        """The certificate authority to trust."""
        return self.authority.ca_file

    @property
    def anon_key(self) -> str:
        """The project's public key."""
        return tokens.anon_key(self.world)

    def environment(self, url: str = "") -> dict[str, str]:
        """The environment of a client, without its token."""
        base = url or self.url
        return {"SLUICE_ESTUARY_API_URL": base, "SLUICE_ESTUARY_PG_URL": f"{base}/rest/v1",
                "SLUICE_ESTUARY_ENCRYPTION_URL": base, "SLUICE_ESTUARY_DASHBOARD_URL": base,
                "SLUICE_ESTUARY_ANON_KEY": self.anon_key}

    def told(self) -> Row:
        """What the control endpoint says of itself."""
        return {"url": self.url, "control_url": self.control_url, "ca_file": str(self.ca_file),
                "environment": self.environment(), "email": self.settings.email, "tenant": self.settings.tenant,
                "recipient": self.world.identity.recipient}

    def token(self, email: str = "", multi_use: bool = True, valid_for: str = "90d") -> str:
        """A refresh token as pasted: of the tenant's user unless another address is given."""
        with self.front.lock:
            user = self.world.user(email or self.settings.email)
            made = tokens.make_refresh(self.world, user["id"], multi_use, tokens.interval(valid_for), None)
            return tokens.pasted(made)

    def access_token(self, email: str = "") -> str:
        """An access token, made without an exchange."""
        with self.front.lock:
            return tokens.access_token(self.world, self.world.user(email or self.settings.email)["id"])

    def broken_tls_url(self, how: str) -> str:
        """An origin whose certificate is no good: "unknown-ca", "wrong-name" or "expired"."""
        authority = self.authority
        if how == "unknown-ca":
            authority = Authority(self.folder / "other-ca", "somebody else")
        elif how not in ("wrong-name", "expired"):
            raise ValueError(how)
        names = ("wrong.example.com",) if how == "wrong-name" else NAMES
        issued = authority.issue(f"estuary-{how}", names, expired=how == "expired")
        return self._listen((issued.cert_file, issued.key_file)).url

    # For tests that look inside or prepare something.

    def advance(self, seconds: float) -> None:
        """Let time pass; what becomes due is done when this returns."""
        self.clock.advance(seconds)
        with self.front.lock:
            self.jobs.settle()
        self.jobs.wait()

    def open(self, sealed: Row) -> Row:
        """The content of a sealed config, its names as the connector knows them."""
        return dict(sops.without_suffix(sops.open_sealed(sealed, self.world.identity)))

    def grant(self, prefix: str, capability: str, email: str = "") -> None:
        """Give a user a capability on a prefix, in place of any it was given there; none takes it away."""
        with self.front.lock:
            store, user = self.world.store, self.world.user(email or self.settings.email)
            store.remove("user_grants", lambda row: row["user_id"] == user["id"] and row["object_role"] == prefix)
            if capability != "none":
                store.add("user_grants", {"user_id": user["id"], "object_role": prefix, "capability": capability})

    def grant_role(self, subject: str, prefix: str, capability: str) -> None:
        """Give the specs below a prefix a capability on another, in place of any; none takes it away."""
        with self.front.lock:
            store, given = self.world.store, {"subject_role": subject, "object_role": prefix}
            store.remove("role_grants", lambda row: given.items() <= row.items())
            if capability != "none":
                store.add("role_grants", {**given, "capability": capability})

    def put_plane(self, name: str, cloud: str = "AWS", region: str = "us-east-1", public: bool = True,
                  closed: bool = False, cidr_blocks: list[str] | None = None) -> None:
        """A data plane that is there before the test, in place of any of that name."""
        with self.front.lock:
            self.world.store.remove("data_planes", lambda row: bool(row["data_plane_name"] == name))
            seed.add_plane(self.world, name, cloud, region, public, closed, cidr_blocks or [])

    def put_mapping(self, prefix: str, planes: list[str] | None) -> None:
        """A storage mapping in place of any of that prefix; None takes it away."""
        with self.front.lock:
            self.world.store.remove("storage_mappings", lambda row: bool(row["catalog_prefix"] == prefix))
            if planes is not None:
                seed.add_mapping(self.world, prefix, planes)

    def put_live(self, name: str, kind: str, spec: Row, plane: str | None = None) -> None:
        """A live spec that is there before the test."""
        with self.front.lock:
            store, publication, now = self.world.store, new_id(), self.clock.now()
            mapping = self.world.mapping(name)
            first = (mapping or {"spec": {"data_planes": [""]}})["spec"]["data_planes"][0]
            store.remove("live_specs", lambda row: bool(row["catalog_name"] == name))
            store.add("live_specs", {
                "id": new_id(), "catalog_name": name, "spec_type": kind, "spec": spec, "last_pub_id": publication,
                "last_build_id": publication, "created_at": stamp(now), "updated_at": stamp(now),
                "_plane": plane or first, "_active_from": now})

    def live(self, name: str) -> Row | None:
        """A live spec, or None."""
        with self.front.lock:
            found = self.world.store.one("live_specs", catalog_name=name)
            return copy.deepcopy(found and found["spec"])

    def contents(self) -> dict[str, list[str]]:
        """What exists: drafts, the specs in them, live specs."""
        with self.front.lock:
            store = self.world.store
            return {"drafts": [row["id"] for row in store.rows("drafts")],
                    "drafted": [row["catalog_name"] for row in store.rows("draft_specs")],
                    "live": [row["catalog_name"] for row in store.rows("live_specs")]}
