"""What EMR Serverless demands of the network an application is to run in.

Imitation: except for the zones and for one list without the other, the words are ours.
"""

from __future__ import annotations

from typing import Any

from .errors import AwsError
from .network import Ec2Reader, open_to_world, text
from .service import World


def invalid(message: str) -> AwsError:
    """The one code for everything that EMR Serverless does not accept."""
    return AwsError("ValidationException", message, 400)


def check_network(world: World, region: str, network: dict[str, Any] | None) -> None:
    """Refuse a choice of subnets and security groups that the service would refuse."""
    if not network:
        return
    subnets, groups = network.get("subnetIds") or [], network.get("securityGroupIds") or []
    if bool(subnets) != bool(groups):
        raise invalid("SubnetIds and SecurityGroupIds are required")
    ec2 = Ec2Reader(world.backend, region)
    vpcs, wrong = set(), []
    for subnet_id in subnets:
        subnet = ec2.subnet(subnet_id)
        if subnet is None:
            raise invalid(f"The subnet ID '{subnet_id}' does not exist")
        vpcs.add(text(subnet, "vpcId"))
        if not ec2.zone_supported(subnet):
            wrong.append(subnet_id)
    if wrong:
        raise invalid(f"The availability zones for subnets [{', '.join(wrong)}] are currently not supported.")
    for group_id in groups:
        group = ec2.group(group_id)
        if group is None:
            raise invalid(f"The security group '{group_id}' does not exist")
        if open_to_world(group):
            raise invalid(f"Security group {group_id} has inbound rules that allow access from any source.")
        vpcs.add(text(group, "vpcId"))
    if len(vpcs) > 1:
        raise invalid("All subnets and security groups must belong to the same VPC.")
