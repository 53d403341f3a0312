"""Real servers on loopback ports for the tests and the sandbox: PostgreSQL, an Iceberg REST catalog behind OAuth and
TLS, and things that break on purpose. Nothing started here outlives the process that started it (see watch.py)."""
