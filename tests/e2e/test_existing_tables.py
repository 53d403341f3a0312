"""Tables that are in Bauplan already: told before Estuary refuses them."""

import json

import pytest

ORDERS = """location ~ /namespaces/shop/tables$ { default_type application/json;
    if ($arg_pageToken = "") { return 200 '{"identifiers":[{"namespace":["shop"],"name":"other"}],"next-page-token":"2"}'; }
    return 200 '{"identifiers":[{"namespace":["shop"],"name":"orders"}]}'; }
location ~ /namespaces/denied/tables$ { return 403; }
"""


@pytest.fixture
def look(sluice, catalog, catalog_variant, tmp_path):
    """Runs the check against a catalog with a table shop.orders, on its second page."""
    secret = tmp_path / "client-secret"
    secret.write_text(catalog.client_secret)
    secret.chmod(0o600)
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps({
        "start": {"name": "shop", "prefix": "acmeCo/", "keep_secrets": "none"},
        "oauth": {"url": catalog_variant(before=ORDERS).url + "/iceberg", "branch": catalog.branch,
                  "client_id": catalog.client_id, "client_secret": {"secret": f"file:{secret}"}},
        "postgres": {"tables": ["public.orders", "public.customers"]},
    }))
    sluice.env["SLUICE_CA_FILE"] = str(catalog.ca_file)

    def run(namespace: str, *more: str):
        done = sluice.run("check", "materialization.existing", "--json", "--answers", answers,
                          "--set", f"materialization.namespace={namespace}", *more)
        return done.checks["materialization.existing"]

    return run


def test_a_table_of_that_name(look):
    seen = look("shop")
    assert seen["status"] == "warned" and seen["line"] == "1 of 2 tables are there already"
    assert [(item["name"], item["line"]) for item in seen["items"]] == [("public.orders", "shop.orders is there already")]
    assert "already exists for new binding" in seen["why"]


def test_another_name_is_free(look):
    assert look("shop", "--set", "materialization.bindings=public.orders=orders_2")["status"] == "passed"


def test_a_namespace_that_is_still_to_be_made_has_none(look):
    assert look("nowhere")["status"] == "passed"


def test_a_namespace_that_may_not_be_read(look):
    seen = look("denied")
    assert seen["status"] == "warned" and seen["fix"]
