"""The network of a region: subnets with and without a way to the internet, and what can be told of them.

Built in the default VPC, once for each region that is asked for, with Name tags that say what each is for:
subnets `public-…` (internet gateway), `private-nat` and `private-nat-b` (NAT gateway, two zones),
`private-closed` (no default route); security groups `open-egress`, `no-egress` and `world-inbound`.
What is told about subnets and groups is read from the answers that a client gets, not from moto's insides.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field

from .backend import Backend
from .messages import Defect

#: Zone ids that EMR Serverless supports, where it does not support all of a region's.
SUPPORTED_ZONES = {
    "us-east-1": {"use1-az1", "use1-az2", "use1-az4", "use1-az5", "use1-az6"},
    "us-east-2": {"use2-az1", "use2-az2", "use2-az3"},
    "ca-central-1": {"cac1-az1", "cac1-az2"},
    "cn-north-1": {"cnn1-az1", "cnn1-az2"},
}
_EVERYWHERE = ("0.0.0.0/0", "::/0")


@dataclass
class Network:
    """The ids of what was built in one region."""

    region: str
    vpc: str
    subnets: dict[str, str] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    #: A subnet in a zone that EMR Serverless does not support, where the region has one.
    unsupported: str | None = None


def text(node: ET.Element, path: str) -> str:
    """The text of a child, or nothing."""
    return (node.findtext(path) or "").strip()


class Ec2Reader:
    """Reads and makes EC2 resources of one region through moto's API."""

    def __init__(self, backend: Backend, region: str) -> None:
        self._backend, self.region = backend, region

    def make(self, action: str, tag: str, **params: str) -> str:
        """One call that makes something; the text of the element that names it."""
        named = {name.replace("__", "."): value for name, value in params.items()}
        return self._backend.made("ec2", self.region, action, named, tag)

    def list(self, action: str, collection: str, **filters: str) -> list[ET.Element]:
        """The items of a Describe call."""
        params = {}
        for index, (name, value) in enumerate(filters.items(), 1):
            params[f"Filter.{index}.Name"] = name.replace("_", "-")
            params[f"Filter.{index}.Value.1"] = value
        answer = self._backend.form("ec2", self.region, action, params)
        if answer.status != 200:
            raise Defect(f"{action}: {answer.body[:300]!r}")
        plain = re.sub(rb'\sxmlns="[^"]*"', b"", answer.body, count=1)
        return ET.fromstring(plain).findall(f"{collection}/item")

    def subnet(self, subnet_id: str) -> ET.Element | None:
        """One subnet, or None."""
        found = self.list("DescribeSubnets", "subnetSet", subnet_id=subnet_id)
        return found[0] if found else None

    def group(self, group_id: str) -> ET.Element | None:
        """One security group, or None."""
        found = self.list("DescribeSecurityGroups", "securityGroupInfo", group_id=group_id)
        return found[0] if found else None

    def zone_supported(self, subnet: ET.Element) -> bool:
        """Whether EMR Serverless works in a subnet's zone."""
        supported = SUPPORTED_ZONES.get(self.region)
        return not supported or text(subnet, "availabilityZoneId") in supported

    def way_out(self, subnet: ET.Element) -> bool:
        """Whether a subnet's default route leads to the internet: a public NAT or an internet gateway."""
        tables = self.list("DescribeRouteTables", "routeTableSet", vpc_id=text(subnet, "vpcId"))
        own, main = None, None
        for table in tables:
            for link in table.findall("associationSet/item"):
                if text(link, "subnetId") == text(subnet, "subnetId"):
                    own = table
                if text(link, "main") == "true":
                    main = table
        chosen = own if own is not None else main
        for route in chosen.findall("routeSet/item") if chosen is not None else []:
            if text(route, "destinationCidrBlock") != "0.0.0.0/0" or text(route, "state") == "blackhole":
                continue
            if text(route, "natGatewayId"):
                return self._public_nat(text(route, "natGatewayId"))
            return text(route, "gatewayId").startswith("igw-")
        return False

    def _public_nat(self, nat_id: str) -> bool:
        for nat in self.list("DescribeNatGateways", "natGatewaySet"):
            if text(nat, "natGatewayId") == nat_id:
                return text(nat, "state") == "available" and nat_kind(self._backend, self.region, nat_id) == "public"
        return False

    def has_endpoint(self, vpc: str, service: str) -> bool:
        """Whether a VPC has an endpoint for a service such as `s3` or `ssm`."""
        endpoints = self.list("DescribeVpcEndpoints", "vpcEndpointSet", vpc_id=vpc)
        return any(text(e, "serviceName").endswith(f".{service}") for e in endpoints)


def nat_kind(backend: Backend, region: str, nat_id: str) -> str:
    """`public` or `private`: moto keeps it but does not show it."""
    return str(backend.model("ec2", region).nat_gateways[nat_id].connectivity_type or "public")


def _anywhere(rule: ET.Element) -> bool:
    blocks = [text(r, "cidrIp") for r in rule.findall("ipRanges/item")]
    blocks += [text(r, "cidrIpv6") for r in rule.findall("ipv6Ranges/item")]
    return any(block in _EVERYWHERE for block in blocks)


def open_to_world(group: ET.Element) -> bool:
    """Whether a security group lets anybody in: EMR Serverless refuses such a group."""
    return any(_anywhere(rule) for rule in group.findall("ipPermissions/item"))


def lets_https_out(group: ET.Element) -> bool:
    """Whether a security group lets tcp/443 out to the internet."""
    for rule in group.findall("ipPermissionsEgress/item"):
        if not _anywhere(rule):
            continue
        first, last = text(rule, "fromPort"), text(rule, "toPort")
        if text(rule, "ipProtocol") == "-1" or (first and int(first) <= 443 <= int(last or first)):
            return True
    return False


def build(backend: Backend, region: str) -> Network:
    """Everything the module's text promises, in the default VPC of a region."""
    ec2 = Ec2Reader(backend, region)
    vpc = next(text(v, "vpcId") for v in ec2.list("DescribeVpcs", "vpcSet") if text(v, "isDefault") == "true")
    network = Network(region, vpc)
    subnets = sorted(ec2.list("DescribeSubnets", "subnetSet"), key=lambda s: text(s, "availabilityZone"))
    good = [s for s in subnets if ec2.zone_supported(s)]
    bad = [s for s in subnets if not ec2.zone_supported(s)]
    network.unsupported = text(bad[0], "subnetId") if bad else None
    _make_public(ec2, network, good)
    _make_private(ec2, network, [text(s, "availabilityZone") for s in good])
    _make_groups(ec2, network)
    return network


def _make_public(ec2: Ec2Reader, network: Network, subnets: list[ET.Element]) -> None:
    gateway = ec2.make("CreateInternetGateway", "internetGatewayId")
    ec2.make("AttachInternetGateway", "", InternetGatewayId=gateway, VpcId=network.vpc)
    main = text(ec2.list("DescribeRouteTables", "routeTableSet", vpc_id=network.vpc)[0], "routeTableId")
    ec2.make("CreateRoute", "", RouteTableId=main, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
    network.subnets["public"] = text(subnets[0], "subnetId")
    for subnet in subnets:
        name = f"public-{text(subnet, 'availabilityZone')[-1]}"
        tag = {"ResourceId__1": text(subnet, "subnetId"), "Tag__1__Key": "Name", "Tag__1__Value": name}
        ec2.make("CreateTags", "", **tag)


def _named(kind: str, name: str) -> dict[str, str]:
    prefix = "TagSpecification__1__"
    return {prefix + "ResourceType": kind, prefix + "Tag__1__Key": "Name", prefix + "Tag__1__Value": name}


def _make_private(ec2: Ec2Reader, network: Network, zones: list[str]) -> None:
    address = ec2.make("AllocateAddress", "allocationId", Domain="vpc")
    place = {"SubnetId": network.subnets["public"], "AllocationId": address}
    nat = ec2.make("CreateNatGateway", "natGatewayId", **place, **_named("natgateway", "nat"))
    tables = {}
    for name in ("private-nat", "private-closed"):
        tables[name] = ec2.make("CreateRouteTable", "routeTableId", VpcId=network.vpc, **_named("route-table", name))
    route = {"RouteTableId": tables["private-nat"], "DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": nat}
    ec2.make("CreateRoute", "", **route)
    for name, zone, block, table in (
        ("private-nat", zones[0], "172.31.192.0/20", "private-nat"),
        ("private-nat-b", zones[1 % len(zones)], "172.31.208.0/20", "private-nat"),
        ("private-closed", zones[0], "172.31.224.0/20", "private-closed"),
    ):
        place = {"VpcId": network.vpc, "CidrBlock": block, "AvailabilityZone": zone}
        subnet = ec2.make("CreateSubnet", "subnetId", **place, **_named("subnet", name))
        ec2.make("AssociateRouteTable", "associationId", RouteTableId=tables[table], SubnetId=subnet)
        network.subnets[name] = subnet


def _make_groups(ec2: Ec2Reader, network: Network) -> None:
    for name in ("open-egress", "no-egress", "world-inbound"):
        wanted = {"GroupName": name, "GroupDescription": name, "VpcId": network.vpc}
        network.groups[name] = ec2.make("CreateSecurityGroup", "groupId", **wanted, **_named("security-group", name))
    rule = "IpPermissions__1__"
    world = {rule + "IpRanges__1__CidrIp": "0.0.0.0/0"}
    everything = {rule + "IpProtocol": "-1", **world}
    ec2.make("RevokeSecurityGroupEgress", "", GroupId=network.groups["no-egress"], **everything)
    ssh = {rule + "IpProtocol": "tcp", rule + "FromPort": "22", rule + "ToPort": "22", **world}
    ec2.make("AuthorizeSecurityGroupIngress", "", GroupId=network.groups["world-inbound"], **ssh)
