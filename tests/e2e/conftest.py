"""Fixtures of all end-to-end tests; each group of them stands in a module of its own."""

from tests.e2e.program import ready, sluice, wizard  # noqa: F401
