"""A stand-in for AWS: moto's resources behind a strict front of our own, over TLS, in this process or another.

Nothing public plays STS, IAM, S3, SSM, EC2 and EMR Serverless together and also refuses what AWS refuses. moto
keeps resources but lets every caller do everything, so the front verifies each signature, judges each call by
the caller's real policies, and adds what moto lacks: states over time, IAM's lateness, limits, regions, faults,
a request log. README.md lists where it still differs from AWS.
"""

from .faults import Fault
from .messages import Defect
from .settings import Settings
from .standin import AwsStandIn

__all__ = ["AwsStandIn", "Defect", "Fault", "Settings"]
