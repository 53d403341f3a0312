"""sluice with answers for every step and a stand-in for every service, Estuary's control plane among them.

from tests.e2e.everything import everything, estuary, aws  # noqa: F401
"""

import pytest

from tests.e2e.aws_account import whole  # noqa: F401
from tests.services import answers as prefilled
from tests.services.aws.testing import aws  # noqa: F401
from tests.services.estuary.testing import estuary  # noqa: F401
from tests.services.tls import bundle, write_private


@pytest.fixture
def everything(whole, aws, estuary):  # noqa: F811
    """As `whole`, with the Estuary login, names and tables: .estuary, .values. Estuary's connectors reach the database, the
    catalog and the account, as they would from its data plane."""
    trusted = bundle(whole.folder / "trusted.pem", whole.env["SLUICE_CA_FILE"], estuary.ca_file, aws.ca_file)
    estuary.settings.update({"reach_postgres": True, "reach_catalog": True, "aws_url": aws.url, "connector_ca": str(trusted)})
    told = prefilled.Estuary(estuary.environment(), estuary.settings.tenant, estuary.pasted, estuary.control_url)
    write_private(whole.folder / "estuary-token", told.token)
    for step, given in prefilled.for_estuary(whole.folder, told).items():
        whole.values.setdefault(step, {}).update(given)
    whole.values["materialization"]["hard_delete"] = False     # the other is refused until Estuary has discovered the tables
    whole.save()
    whole.sluice.env |= told.environment | {"SLUICE_CA_FILE": str(trusted)}
    whole.estuary = estuary
    return whole
