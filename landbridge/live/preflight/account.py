"""Checks of the AWS account, its region and its zones."""

from collections.abc import Iterator

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.catalog import regions
from landbridge.findings import Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error, warning
from landbridge.plan.network.subnets import used_zones

#: Where a partition's accounts can always ask. Source: IAM User Guide, "Regions and endpoints" (STS).
_HOME = {"aws": "us-east-1", "aws-us-gov": "us-gov-west-1", "aws-cn": "cn-north-1"}
_OPEN = ("opted-in", "opt-in-not-required")


def home(region: str) -> str:
    """Return a region of the same partition that is open to every account."""
    known = regions().get(region)
    return _HOME[known.partition if known is not None else "aws"]


@check("the account", "sts:GetCallerIdentity")
def account(scene: Scene) -> Iterator[Finding]:
    """The credentials belong to the account that the environment names.

    The commonest way to lose a day is the right file with the wrong profile: everything is built, in another account.
    Source: AWS STS API reference, GetCallerIdentity.
    """
    wanted = scene.environment.aws.account
    if wanted is not None and scene.account is not None and wanted != scene.account:
        message = f"these credentials are of account {scene.account}, and the environment is for {wanted}"
        yield error("live-account", message, ("aws", "account"), "use the profile of that account (AWS_PROFILE)")


@check("the region", "ec2:DescribeRegions")
def region(scene: Scene) -> Iterator[Finding]:
    """The region is enabled for the account.

    Regions since 2019 are closed until somebody opts in; calls to a closed one fail as if the keys were wrong.
    Source: EC2 API reference, DescribeRegions (OptInStatus); Account Management reference, "Enable or disable Regions".
    """
    name = scene.environment.region
    try:
        answer = scene.aws.ask("ec2", "describe_regions", region=home(name), RegionNames=[name], AllRegions=True)
    except AwsRefusal as refused:
        if refused.kind is not RefusalKind.ANSWER:
            raise
        yield error("live-region", f"AWS has no region {name}: {refused.message}", ("region",))
        return
    status = answer["Regions"][0].get("OptInStatus", "opt-in-not-required")
    if status not in _OPEN:
        message = f"the region {name} is not enabled for this account ({status})"
        yield error("live-region", message, ("region",), f"aws account enable-region --region-name {name}")


@check("availability zones", "ec2:DescribeAvailabilityZones")
def zone(scene: Scene) -> Iterator[Finding]:
    """Every zone in use is one of the account's, and open.

    Names such as us-east-1a mean another place in every account, ids do not; some zones are closed to new accounts.
    Source: EC2 API reference, DescribeAvailabilityZones (State, OptInStatus).
    """
    answer = scene.aws.ask("ec2", "describe_availability_zones", AllAvailabilityZones=True)
    found = {
        availability_zone["ZoneId"]: availability_zone
        for availability_zone in answer["AvailabilityZones"]
        if "ZoneId" in availability_zone
    }
    where = {name: one.at("zones" if one.terms.kind in ("on_demand", "spot", "reservation_group") else "zone")
             for one in scene.bought() for name in one.terms.zones}  # fmt: skip
    for name in used_zones(scene.environment):
        path = where.get(name, ("aws", "pools"))
        if name not in found:
            yield error("live-zone", f"this account has no zone {name}", path, f"it has {', '.join(sorted(found))}")
        elif found[name].get("OptInStatus", "opt-in-not-required") not in _OPEN:
            yield error("live-zone", f"the zone {name} is not opted in to", path, "opt in to its zone group first")
        elif found[name].get("State", "available") != "available":
            told = "; ".join(message["Message"] for message in found[name].get("Messages") or ())
            yield warning("live-zone", f"the zone {name} is {found[name]['State']}{f': {told}' if told else ''}", path)
