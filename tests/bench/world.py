"""The services that are measured against, in a folder of their own, and sluice with the answers for them."""

import dataclasses
from pathlib import Path
from typing import Self

import yaml

from tests.e2e.cli import Sluice
from tests.services import answers as prefilled
from tests.services import shop
from tests.services.aws import AwsStandIn
from tests.services.aws.settings import Life, Settings
from tests.services.catalog import Catalog
from tests.services.postgres import Postgres
from tests.services.tls import Authority

# Every statement with what it took and its parameters, and when a login was through.
LOGS = {"log_min_duration_statement": "0", "log_connections": "on"}
# Nothing takes time there but work: no client is measured waiting for a state of the service.
AT_ONCE = Life(**{state.name: 0.0 for state in dataclasses.fields(Life)})


class World:
    """A part starts with the first use of it: .postgres .catalog .aws. folder: what sluice works in lies there;
    base: the servers' data, where PostgreSQL's own user may go."""

    def __init__(self, program: Path, folder: Path, base: Path):
        self.program, self.folder, self.base = program, folder, base
        self._authority: Authority | None = None
        self._postgres: Postgres | None = None
        self._catalog: Catalog | None = None
        self._aws: AwsStandIn | None = None
        self._made = 0

    @property
    def authority(self) -> Authority:
        self._authority = self._authority or Authority(self.base / "ca")
        return self._authority

    @property
    def postgres(self) -> Postgres:
        """With the shop database, to which nothing was done yet."""
        if self._postgres is None:
            self._postgres = Postgres(self.base / "postgres", self.authority, settings=LOGS).start()
            shop.make(self._postgres, "shop", "owner-" + self._postgres.admin_password)
        return self._postgres

    @property
    def catalog(self) -> Catalog:
        if self._catalog is None:
            self._catalog = Catalog(self.base / "catalog", self.authority).start()
        return self._catalog

    @property
    def aws(self) -> AwsStandIn:
        """In this process: what it is asked can be taken down with every parameter."""
        if self._aws is None:
            self._aws = AwsStandIn(self.base / "aws", Settings(life=AT_ONCE), authority=self.authority).start()
        return self._aws

    def aws_told(self) -> prefilled.Aws:
        return prefilled.Aws(self.aws.environment(), dataclasses.asdict(self.aws.network()))

    def sluice(self, values: dict, env: dict[str, str]) -> "Prepared":
        """sluice that has done nothing yet, in a folder of its own, with these answers."""
        self._made += 1
        return Prepared(Sluice(self.program, self.folder / f"work-{self._made}", env), values)

    def secret(self, text: str) -> dict[str, str]:
        """A reference to this text, as an answer."""
        path = self.folder / "secret"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(text)
        return {"secret": f"file:{path}"}

    def stop(self) -> None:
        for each in (self._postgres, self._catalog, self._aws):
            if each:
                each.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Prepared:
    """sluice: the program; options: what gives it the answers and a passphrase."""

    def __init__(self, sluice: Sluice, values: dict):
        self.sluice = sluice
        answers, passphrase = sluice.folder / "answers.yaml", sluice.folder / "passphrase"
        answers.write_text(yaml.safe_dump(values, sort_keys=False, allow_unicode=True))
        passphrase.touch(mode=0o600)
        passphrase.write_text("a passphrase of the measurement\n")
        self.options = ("--answers", answers, "--passphrase-file", passphrase)

    def run(self, *words: object):
        return self.sluice.run(*words, *self.options)
