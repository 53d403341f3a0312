"""The prefilled answers: what an operator would type for the stand-ins, with every secret as a reference to a file."""

import secrets
import shlex
from pathlib import Path

import yaml

from . import shop
from .catalog import Catalog
from .postgres import Postgres
from .tls import write_private


def answers(folder: Path, catalog: Catalog, server: Postgres, database: str = "shop") -> dict:
    """The mapping for --answers. The secrets it refers to are written by write()."""
    return {
        "start": {"name": "shop", "keep_secrets": "file"},
        "oauth": {
            "url": catalog.url,
            "branch": catalog.branch,
            "warehouse": catalog.warehouse,
            "client_id": catalog.client_id,
            "client_secret": {"secret": f"file:{folder / 'client-secret'}"},
            "token_uri": "v1/oauth/tokens",
        },
        "postgres": {
            "host": server.host,
            "port": server.port,
            "database": database,
            "sslmode": "verify-full",
            "ca_file": str(server.ca_file),
            "admin_user": server.admin_user,
            "admin_password": {"secret": f"file:{folder / 'admin-password'}"},
            "tables": list(shop.TABLES),
            "repairs": dict(shop.REPAIRS),
        },
    }


def environment(folder: Path, catalog: Catalog, server: Postgres, database: str = "shop") -> dict[str, str]:
    """What sluice needs to reach the stand-ins (SLUICE_*), and where tools that look from outside find them."""
    return {
        "SLUICE_CA_FILE": str(catalog.ca_file),
        "SANDBOX_POSTGRES": server.uri(database),
        "SANDBOX_CATALOG": catalog.url,
        "SANDBOX_TOKEN_URL": catalog.token_url,
        "SANDBOX_CLIENT_ID": catalog.client_id,
        "SANDBOX_CLIENT_SECRET_FILE": str(folder / "client-secret"),
    }


def for_sluice(values: dict[str, str]) -> dict[str, str]:
    """Of environment() only what the program itself is given."""
    return {name: value for name, value in values.items() if not name.startswith("SANDBOX_")}


def write(folder: Path, catalog: Catalog, server: Postgres, database: str = "shop") -> None:
    """Fills the folder: answers.yaml, client-secret, admin-password, passphrase (kept when there), env. All private."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    write_private(folder / "client-secret", catalog.client_secret)
    write_private(folder / "admin-password", server.admin_password)
    if not (folder / "passphrase").exists():
        write_private(folder / "passphrase", secrets.token_urlsafe(24) + "\n")
    text = yaml.safe_dump(answers(folder, catalog, server, database), sort_keys=False, allow_unicode=True, width=120)
    write_private(folder / "answers.yaml", text)
    lines = [f"export {name}={shlex.quote(value)}" for name, value in
             environment(folder, catalog, server, database).items()]
    write_private(folder / "env", "\n".join(lines) + "\n")
