"""A set-up that was made once for all tests of a module: database, catalog and account stay as they are, Estuary is as new
for each test, sluice has a copy of the state.

from tests.e2e.estuary_world import estuary, set_up, world  # noqa: F401
"""

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Iterator

import pytest
import yaml

from tests.e2e.cli import Done, Sluice
from tests.services import answers as prefilled
from tests.services.answers import LAKE
from tests.services.aws import AwsStandIn
from tests.services.estuary.standin import EstuaryStandIn
from tests.services.estuary.testing import estuary  # noqa: F401
from tests.services.shop import Shop
from tests.services.tls import bundle

TEMPLATE = "shop_template"
KEPT = ("sluice.yaml", "sluice.secrets")


@dataclass
class World:
    """What stands, and is put back by a test that changes it; and the state that tests begin with."""

    shop: Shop
    catalog: object
    aws: AwsStandIn
    folder: Path
    settings: dict
    env: dict[str, str]
    values: dict
    args: tuple

    def begin(self, sluice: Sluice) -> None:
        """Puts the state after everything was made in sluice's place."""
        for file in KEPT:
            shutil.copy(self.folder / "made" / file, sluice.folder / file)


@pytest.fixture(scope="module")
def world(sluice_bin, pg_server, catalog, service_folder, tmp_path_factory) -> Iterator[World]:
    """All of a set-up made: .shop .catalog .aws .values (the answers) .args (options that give them) .begin(sluice)."""
    folder = tmp_path_factory.mktemp("world")
    standin, account = EstuaryStandIn.shared(), AwsStandIn.shared()
    standin.reset()
    account.reset()
    account.make_bucket(LAKE)
    shop = Shop(pg_server, TEMPLATE, "owner-" + pg_server.admin_password)
    trusted = bundle(folder / "trusted.pem", catalog.ca_file, standin.ca_file, account.ca_file)
    settings = {"reach_postgres": True, "reach_catalog": True, "aws_url": account.url, "connector_ca": str(trusted),
                "life": {"discover": 0.2, "publish": 0.3}}
    standin.settings.update(settings)
    told = (prefilled.Aws(account.environment(), asdict(account.network())),
            prefilled.Estuary(standin.environment(), standin.settings.tenant, standin.pasted, standin.control_url))
    prefilled.write(folder, catalog, pg_server, shop.database, *told)
    values = prefilled.answers(folder, catalog, pg_server, shop.database, *told)
    env = prefilled.for_sluice(prefilled.environment(folder, catalog, pg_server, shop.database, *told))
    made = World(shop, catalog, account, folder, settings, env | {"SLUICE_CA_FILE": str(trusted)}, values,
                 ("--passphrase-file", folder / "passphrase"))
    sluice = Sluice(sluice_bin, folder / "made", made.env)
    sluice.run("apply", "--yes", "--answers", folder / "answers.yaml", *made.args).ends(0)
    yield made
    account.check()
    shop.drop()


@pytest.fixture
def set_up(world, estuary, sluice) -> Iterator[SimpleNamespace]:  # noqa: F811
    """All is made; Estuary was not asked for anything that needs consent: .sluice .estuary .world, run(…) with the
    passphrase, check(…) of the named checks with consent. No draft may be left in the end but those in .left."""
    estuary.settings.update(world.settings)
    sluice.env |= world.env
    world.begin(sluice)

    def run(*words: object, **more) -> Done:
        return sluice.run(*words, *world.args, **more)

    def check(*words: object, code: int | None = 0, deep: bool = True, **more) -> Done:
        done = run("check", *words, "--json", *(("--deep",) if deep else ()), **more)
        return done if code is None else done.ends(code)

    made = SimpleNamespace(sluice=sluice, estuary=estuary, world=world, run=run, check=check, left=[])
    yield made
    assert estuary.contents()["drafts"] == made.left
