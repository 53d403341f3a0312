"""EC2, as far as the wizard reads it: moto's, with a network in every region that is looked at, and with pages."""

from __future__ import annotations

import re

from .errors import AwsError
from .messages import Answer, Call
from .network import Network, build, nat_kind
from .paging import page_xml
from .policies import Need
from .service import Caller, Service, World, element

_LISTS = {
    "DescribeVpcs": "vpcSet",
    "DescribeSubnets": "subnetSet",
    "DescribeSecurityGroups": "securityGroupInfo",
    "DescribeRouteTables": "routeTableSet",
    "DescribeNatGateways": "natGatewaySet",
    "DescribeVpcEndpoints": "vpcEndpointSet",
    "DescribeInternetGateways": "internetGatewaySet",
    "DescribeRegions": "regionInfo",
    "DescribeAvailabilityZones": "availabilityZoneInfo",
}
#: What a test may do to the network as the administrator.
_CHANGES = (
    "CreateVpc CreateSubnet CreateSecurityGroup CreateTags CreateRoute CreateRouteTable CreateVpcEndpoint DeleteRoute "
    "ReplaceRoute AuthorizeSecurityGroupIngress AuthorizeSecurityGroupEgress RevokeSecurityGroupEgress "
    "RevokeSecurityGroupIngress AssociateRouteTable CreateNatGateway DeleteNatGateway AllocateAddress"
).split()


class Ec2(Service):
    """Elastic Compute Cloud."""

    name = "ec2"
    reading = ("Describe",)

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._networks: dict[str, Network] = {}
        #: Whether a client has changed something, so that a reset must build the network again.
        self.touched = False

    def network(self, region: str) -> Network:
        """The network of a region, built when it is first asked for."""
        if region not in self._networks:
            self._networks[region] = build(self.world.backend, region)
        return self._networks[region]

    def regions(self) -> list[str]:
        """The regions that have a network."""
        return list(self._networks)

    def adopt(self, networks: dict[str, Network]) -> None:
        """Take over networks that an earlier process built."""
        self._networks.update(networks)

    def needs(self, call: Call, caller: Caller) -> list[Need]:
        if call.operation not in _LISTS and call.operation not in _CHANGES:
            raise self.unknown(call)
        return [Need(f"ec2:{call.operation}", "*", {"ec2:Region": [call.region]}, shown=None)]

    def perform(self, call: Call, caller: Caller) -> Answer:
        self.network(call.region)
        self.touched = self.touched or self.writes(call)
        answer = self.forward(call, caller)
        if call.operation == "DescribeNatGateways" and answer.status == 200:
            self._show_kind(call, answer)
        if answer.status == 200 and call.operation in _LISTS:
            size = call.text("MaxResults")
            page_xml(
                answer,
                _LISTS[call.operation],
                "nextToken",
                int(size) if size.isdigit() else None,
                call.text("NextToken") or None,
                self.world.settings,
                AwsError("InvalidNextToken", "The token is not valid.", 400),
            )
        return answer

    def _show_kind(self, call: Call, answer: Answer) -> None:
        """AWS says of every NAT gateway whether it is public; moto does not."""

        def with_kind(found: re.Match[bytes]) -> bytes:
            kind = nat_kind(self.world.backend, call.region, found[1].decode())
            return found[0] + element("connectivityType", kind).encode()

        answer.body = re.sub(rb"<natGatewayId>([^<]+)</natGatewayId>", with_kind, answer.body)
