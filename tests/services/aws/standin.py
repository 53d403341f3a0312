"""The stand-in as one object: started and stopped, given faults, moved in time, asked what happened."""

from __future__ import annotations

import atexit
import copy
import datetime
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.services.tls import Authority

from .backend import Backend
from .callers import Callers, random_id, random_secret
from .clock import Clock
from .control import ControlServer
from .directory import Directory
from .ec2 import Ec2
from .emr import Emr
from .emr_life import Application
from .faults import Faults
from .front import Front
from .iam import Iam
from .keep import Keeper, load
from .listener import Server
from .messages import Answer, Defect, Delivery, Request
from .network import Network
from .request_log import RequestLog
from .s3 import S3
from .service import Service, World
from .settings import GLOBAL_REGION, Settings
from .ssm import Ssm
from .sts import Sts

_EVERYTHING = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}'
#: Names the certificate is good for: the loopback, and AWS's own names for clients that are led here by name.
_NAMES = (
    "127.0.0.1",
    "::1",
    "localhost",
    "*.amazonaws.com",
    "*.s3.amazonaws.com",
    "*.us-east-1.amazonaws.com",
    "*.s3.us-east-1.amazonaws.com",
    "*.eu-west-1.amazonaws.com",
    "*.s3.eu-west-1.amazonaws.com",
)


class AwsStandIn:
    """AWS on a loopback port. moto's resources belong to the process, so only one of these can run in it.

    with AwsStandIn(folder) as aws:
        env = aws.environment()          # what a client needs
        aws.faults.add("lost_reply", operation="CreateAccessKey")
        ...
        assert aws.log.actions() == [...]

    Leaving the block fails the test if a fault was never met or the stand-in met a call it does not know.
    """

    _running: AwsStandIn | None = None

    def __init__(
        self,
        folder: Path | None = None,
        settings: Settings | None = None,
        rate: float = 1.0,
        authority: Authority | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self._as_given = copy.deepcopy(self.settings)
        self._rate = rate
        self._temporary = tempfile.TemporaryDirectory(prefix="aws-") if folder is None else None
        self.folder = Path(folder or self._temporary.name)  # type: ignore[union-attr]
        self.clock = Clock(rate)
        self.faults = Faults()
        self.log = RequestLog()
        self.admin_key = random_id("AKIA")
        self.admin_secret = random_secret()
        self._given_authority = authority
        self._servers: list[Server] = []
        self._keeper: Keeper | None = None

    # Life.

    @classmethod
    def shared(cls) -> AwsStandIn:
        """The one of this process, started when it is first asked for and stopped at the end: for fixtures."""
        if cls._running is None:
            atexit.register(cls().start().stop)
        assert cls._running is not None
        return cls._running

    def start(self, ports: tuple[int, int] = (0, 0), keep: bool = False) -> AwsStandIn:
        """Build the account and listen: on these ports (endpoint, control) if they are free, else on free ones.

        keep: take up what an earlier process left in the folder, and leave it for the next."""
        if AwsStandIn._running is not None:
            raise RuntimeError("one stand-in for AWS is already running in this process")
        AwsStandIn._running = self
        self.folder.mkdir(parents=True, exist_ok=True)
        self.authority = self._given_authority or Authority(self.folder / "ca", "AWS stand-in CA")
        issued = self.authority.issue("aws", _NAMES)
        self._certificate = (issued.cert_file, issued.key_file)
        backend = Backend(self.settings)
        directory = Directory(backend, self.settings, self.clock)
        callers = Callers(self.settings, directory, self.clock.now)
        self.world = World(self.settings, self.clock, backend, directory, callers)
        self.ec2 = Ec2(self.world)
        kept = self.folder / "account.pickle"
        self._build(kept if keep else None)
        self._server = self._listen(port=ports[0])
        self._control = ControlServer(self, ports[1]).start()
        if keep:
            self._keeper = Keeper(self, kept).start()
        return self

    def _build(self, kept: Path | None = None) -> None:
        world = self.world
        self.iam, self.s3, self.emr = Iam(world), S3(world), Emr(world)
        services: dict[str, Service] = {
            "sts": Sts(world),
            "iam": self.iam,
            "s3": self.s3,
            "ssm": Ssm(world),
            "emr-serverless": self.emr,
            "ec2": self.ec2,
        }
        if kept is None or not load(self, kept):
            self._make_admin()
        world.directory.start()
        world.callers.sessions.clear()
        self.ec2.network(self.settings.region)
        self.front = Front(world, services, self.faults, self.log)

    def _make_admin(self) -> None:
        from moto.iam.models import AWSManagedPolicy

        iam, settings = self.world.backend.model("iam"), self.settings
        moment = datetime.datetime(2015, 2, 6, 18, 39, 46, tzinfo=datetime.timezone.utc).isoformat()
        data = {"DefaultVersionId": "v1", "Path": "/", "Document": json.loads(_EVERYTHING)}
        data.update(CreateDate=moment, UpdateDate=moment)
        policy = AWSManagedPolicy.from_data("AdministratorAccess", settings.account, settings.region, data)
        iam.managed_policies[policy.arn] = policy
        user = iam.create_user(settings.region, settings.admin_user, "/", [])
        user.id = random_id("AIDA", 17)
        iam.attach_user_policy(policy.arn, settings.admin_user)
        key = iam.create_access_key(settings.admin_user)
        iam.access_keys[self.admin_key] = iam.access_keys.pop(key.access_key_id, key)
        key.access_key_id, key.secret_access_key = self.admin_key, self.admin_secret

    def _listen(self, region: str | None = None, certificate: tuple[Path, Path] | None = None, port: int = 0) -> Server:
        def handle(request: Request) -> tuple[Answer, Delivery]:
            return self.front.handle(request)

        given = (handle, lambda: self.front.wall(), certificate or self._certificate, region, self.settings.keep_alive)
        try:
            server = Server(*given, port)
        except OSError:
            server = Server(*given)
        self._servers.append(server.start())
        return server

    def stop(self) -> None:
        """Stop listening; what waits in a hold is let go."""
        self.faults.release()
        if self._keeper:
            self._keeper.stop()
        for server in self._servers:
            server.stop()
        self._servers.clear()
        self._control.stop()
        AwsStandIn._running = None
        if self._temporary:
            self._temporary.cleanup()

    def reset(self) -> None:
        """As at the start: an empty account, the same administrator and keys, the settings as given, no faults."""
        with self.front.lock:
            if self.ec2.touched:
                self.world.backend.reset()
                self.ec2 = Ec2(self.world)
            else:
                self.world.backend.reset(keep=("ec2",))
            self.settings.__dict__.update(copy.deepcopy(self._as_given).__dict__)
            self.clock.reset(self._rate)
            self.faults.clear()
            self.log.clear()
            self._build()

    def check(self) -> None:
        """Fail if a scripted fault was never met or the stand-in fell short."""
        unmet = [f"{f.kind} on {f.service}:{f.operation} (nth {f.nth}, seen {f.seen})" for f in self.faults.unmet()]
        if unmet:
            raise AssertionError(f"scripted faults that no call met: {unmet}")
        if self.front.defects:
            raise AssertionError(f"the stand-in for AWS fell short: {self.front.defects}")

    def __enter__(self) -> AwsStandIn:
        return self.start()

    def __exit__(self, kind: object, *_: object) -> None:
        self.stop()
        if kind is None:
            self.check()

    # For clients.

    @property
    def url(self) -> str:
        """The endpoint for all services."""
        return self._server.url

    @property
    def port(self) -> int:
        """The port of the endpoint."""
        return self._server.port

    @property
    def control_url(self) -> str:
        """The control endpoint (plain HTTP, another port)."""
        return self._control.url

    @property
    def ca_file(self) -> Path:
        """The certificate authority to trust."""
        return self.authority.ca_file

    def environment(self, key: str = "", secret: str = "", token: str = "") -> dict[str, str]:
        """The environment of a client: the administrator's unless keys are given."""
        found = {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_CA_BUNDLE": str(self.ca_file),
            "AWS_ACCESS_KEY_ID": key or self.admin_key,
            "AWS_SECRET_ACCESS_KEY": secret or self.admin_secret,
            "AWS_REGION": self.settings.region,
            "AWS_DEFAULT_REGION": self.settings.region,
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        if token:
            found["AWS_SESSION_TOKEN"] = token
        return found

    def client(self, service: str, key: str = "", secret: str = "", token: str | None = None, **options: Any) -> Any:
        """A boto3 client: the administrator's unless keys are given. Retries are off, so that each call is one.

        IAM is signed for its one region: boto3 does not think of that when it is given an endpoint."""
        import boto3
        from botocore.config import Config

        config = Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=20)
        home = GLOBAL_REGION[self.settings.partition] if service == "iam" else self.settings.region
        given = {"region_name": home, "endpoint_url": self.url, "config": config, **options}
        given.setdefault("verify", str(self.ca_file))
        return boto3.client(
            service,
            aws_access_key_id=key or self.admin_key,
            aws_secret_access_key=secret or self.admin_secret,
            aws_session_token=token,
            **given,
        )

    def regional_url(self, region: str) -> str:
        """Another endpoint that is that of one region: what is signed for another one is refused there."""
        return self._listen(region).url

    def broken_tls_url(self, how: str) -> str:
        """An endpoint whose certificate is no good: "unknown-ca", "wrong-name" or "expired"."""
        authority = self.authority
        if how == "unknown-ca":
            authority = Authority(self.folder / "other-ca", "somebody else")
        elif how not in ("wrong-name", "expired"):
            raise ValueError(how)
        names = ("wrong.example.com",) if how == "wrong-name" else _NAMES
        issued = authority.issue(how, names, expired=how == "expired")
        return self._listen(certificate=(issued.cert_file, issued.key_file)).url

    # For tests that look inside or prepare something.

    def network(self, region: str | None = None) -> Network:
        """The network of a region: ids of subnets and groups by what they are for."""
        with self.front.lock:
            return self.ec2.network(region or self.settings.region)

    def make_bucket(
        self, name: str, region: str | None = None, foreign: bool = False, policy: dict[str, Any] | None = None
    ) -> None:
        """A bucket that is there before the test; `foreign` puts it into another account."""
        with self.front.lock:
            self.s3.make(name, region, foreign)
            self.front.changes += 1
            if policy:
                where = region or self.settings.region
                self.world.backend.bucket(where, "PUT", name, "policy", json.dumps(policy).encode())

    def put_object(self, bucket: str, key: str, body: bytes = b"") -> None:
        """An object that is there before the test."""
        with self.front.lock:
            answer = self.world.backend.forward("s3", self.s3.region(bucket), "PUT", f"/{bucket}/{key}", [], body)
            self.front.changes += 1
        if answer.status != 200:
            raise Defect(f"put_object: {answer}")

    def application(self, identifier: str) -> Application:
        """An application, to look at or to alter (`.config[...] = …`)."""
        for (_, known), application in self.emr.applications.items():
            if known == identifier:
                return application
        raise KeyError(identifier)

    def spread(self) -> None:
        """Let every change in IAM so far reach every service at once."""
        self.world.directory.settle()

    @contextmanager
    def watching(self) -> Iterator[list[dict[str, Any]]]:
        """Collect the log entries of a block."""
        mark, seen = self.log.mark(), []  # type: ignore[var-annotated]
        yield seen
        seen.extend(self.log.entries(mark))

    def contents(self) -> dict[str, list[str]]:
        """What exists in the account, the administrator and the service's own role aside: empty after an undo."""
        with self.front.lock:
            self.front.settle()
            picture, now = self.world.directory.now(), self.clock.now()
            own = [r.name for r in picture.roles.values() if ":role/aws-service-role/" not in r.arn]
            parameters = []
            for region in {self.settings.region, *(a.region for a in self.emr.applications.values())}:
                store = self.world.backend.model("ssm", region)._parameters
                parameters += [name for name in store if not str(name).startswith("/aws/") and store[name]]
            managed = self.world.backend.model("iam").managed_policies
            return {
                "users": [u.name for u in picture.users.values() if u.name != self.settings.admin_user],
                "roles": own,
                "keys": [k for k, v in picture.keys.items() if v.user != self.settings.admin_user],
                "policies": [arn for arn in managed if "::aws:" not in arn],
                "buckets": list(self.world.backend.model("s3").buckets),
                "applications": [a.id for a in self.emr.applications.values() if a.state(now).state != "TERMINATED"],
                "parameters": parameters,
            }
