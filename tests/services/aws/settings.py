"""What can be chosen about the stand-in: who owns the account, how long things take, what is switched off.

Everything here may be changed while the stand-in runs (in Python or through the control endpoint), except
the account and the home region, which decide what is built at the start.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

#: Regions that a new account must switch on itself. They are off unless a test takes them out of the set.
OPT_IN_REGIONS = frozenset(
    "af-south-1 ap-east-1 ap-east-2 ap-south-2 ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-6 "
    "ap-southeast-7 ca-west-1 eu-central-2 eu-south-1 eu-south-2 il-central-1 me-central-1 me-south-1 "
    "mx-central-1".split()
)

REGIONS = {
    "aws": frozenset(
        "us-east-1 us-east-2 us-west-1 us-west-2 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1 "
        "ap-southeast-1 ap-southeast-2 ca-central-1 eu-central-1 eu-north-1 eu-west-1 eu-west-2 eu-west-3 "
        "sa-east-1".split()
    )
    | OPT_IN_REGIONS,
    "aws-cn": frozenset(("cn-north-1", "cn-northwest-1")),
    "aws-us-gov": frozenset(("us-gov-east-1", "us-gov-west-1")),
}
SUFFIX = {"aws": "amazonaws.com", "aws-cn": "amazonaws.com.cn", "aws-us-gov": "amazonaws.com"}
#: The region that signs calls to the global service IAM.
GLOBAL_REGION = {"aws": "us-east-1", "aws-cn": "cn-north-1", "aws-us-gov": "us-gov-west-1"}


def partition_of(region: str) -> str:
    """The partition a region name belongs to, by its prefix."""
    if region.startswith("cn-"):
        return "aws-cn"
    if region.startswith("us-gov-"):
        return "aws-us-gov"
    return "aws"


@dataclass
class Life:
    """Seconds, on the stand-in's clock, that an application or a job run stays in each passing state."""

    creating: float = 1.0
    starting: float = 2.0
    stopping: float = 1.0
    submitted: float = 0.5
    pending: float = 0.5
    scheduled: float = 1.0
    running: float = 3.0
    cancelling: float = 0.5


@dataclass
class Settings:
    """One account of one partition, and how the service treats it."""

    account: str = "123456789012"
    foreign_account: str = "210987654321"
    region: str = "us-east-1"
    admin_user: str = "admin"
    #: Seconds until a change in IAM has reached a service: keys are service names and "default". The entry
    #: "iam-read" is the time during which IAM itself does not find a new user or role.
    propagation: dict[str, float] = field(default_factory=dict)
    disabled_regions: frozenset[str] = OPT_IN_REGIONS
    #: Seconds by which the service's wall clock differs from this machine's: for tests of clock skew.
    skew: float = 0.0
    #: Largest accepted difference between a request's date and the service's wall clock.
    tolerance: float = 900.0
    #: Refuse payloads that are not hashed into the signature. AWS takes them over TLS; sluice never sends them.
    refuse_unsigned_payload: bool = False
    #: Force every list to pages of this size; put an empty page with a token first; repeat the same token.
    page_size: int | None = None
    empty_pages: bool = False
    repeat_tokens: bool = False
    #: HTTP status of AccessDeniedException of EMR Serverless (the public material knows 400 and 403).
    emr_denied_status: int = 403
    #: Status of the answer to a bucket of another region: 301 (the rule) or 307 (a bucket made just now).
    redirect_status: int = 301
    #: The simulator's well-known error: organisation policies with conditions make it deny what works.
    simulator_blind: bool = False
    #: Organisation policies (JSON texts) over the whole account, and over every caller in it.
    organisation_policies: list[str] = field(default_factory=list)
    #: Quotas of the account that are cheap to reach in a test.
    users_quota: int = 5000
    roles_quota: int = 1000
    attached_quota: int = 10
    #: Seconds a bucket name stays blocked after its deletion (OperationAborted).
    bucket_name_rest: float = 0.0
    #: Whether buckets get what new buckets have on AWS: encryption and the public access block.
    bucket_defaults: bool = True
    life: Life = field(default_factory=Life)
    keep_alive: float = 60.0

    @property
    def partition(self) -> str:
        """The partition of the home region."""
        return partition_of(self.region)

    def delay(self, service: str) -> float:
        """How old a change in IAM must be for this service to see it."""
        fallback = 0.0 if service == "iam-read" else self.propagation.get("default", 0.0)
        return self.propagation.get(service, fallback)

    def update(self, changes: dict[str, Any]) -> None:
        """Change settings by name; an unknown name is a mistake of the test and refused."""
        known = {f.name for f in fields(self)}
        for name, value in changes.items():
            if name not in known:
                raise ValueError(f"no such setting: {name}")
            if name == "life":
                for part, seconds in value.items():
                    if not hasattr(self.life, part):
                        raise ValueError(f"no such state: {part}")
                    setattr(self.life, part, float(seconds))
            elif name == "disabled_regions":
                self.disabled_regions = frozenset(value)
            else:
                setattr(self, name, value)
