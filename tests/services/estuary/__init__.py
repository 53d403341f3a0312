"""A stand-in for Estuary's control plane: its GraphQL, PostgREST, token and encryption services, over TLS.

Nothing of it can be had for tests: the real one is a hosted service, and its local stack is a dozen programs. README.md
lists what is the documented behaviour and what is imitation."""

from tests.services.aws.faults import Fault

from .settings import Life, Settings
from .standin import EstuaryStandIn

__all__ = ["EstuaryStandIn", "Fault", "Life", "Settings"]
