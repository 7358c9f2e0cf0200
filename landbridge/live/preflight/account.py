"""Checks of the AWS account, its region and its zones."""

from collections.abc import Iterator

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.catalog import regions
from landbridge.findings import Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error, warning
from landbridge.plan.network.subnets import used_zones

#: The region of each partition that is always enabled. Source: IAM User Guide, "Regions and endpoints" (STS).
_HOME = {"aws": "us-east-1", "aws-us-gov": "us-gov-west-1", "aws-cn": "cn-north-1"}
_OPEN = ("opted-in", "opt-in-not-required")


def home(region: str) -> str:
    """Return a region of the same partition that is enabled in every account."""
    known = regions().get(region)
    return _HOME[known.partition if known is not None else "aws"]


@check("the account", "sts:GetCallerIdentity")
def account(scene: Scene) -> Iterator[Finding]:
    """The credentials belong to the account in `aws.account`.

    With the wrong profile everything is built in another account.
    Source: AWS STS API reference, GetCallerIdentity.
    """
    expected = scene.environment.aws.account
    if expected is not None and scene.account is not None and expected != scene.account:
        message = f"these credentials are of account {scene.account}, and the environment is for {expected}"
        yield error("live-account", message, ("aws", "account"), "use the profile of that account (AWS_PROFILE)")


@check("the region", "ec2:DescribeRegions")
def region(scene: Scene) -> Iterator[Finding]:
    """The region is enabled for the account.

    Regions since 2019 are disabled until the account opts in; calls to a disabled region fail as with wrong
    credentials.
    Source: EC2 API reference, DescribeRegions (OptInStatus); Account Management reference, "Enable or disable Regions".
    """
    name = scene.environment.region
    try:
        response = scene.aws.ask("ec2", "describe_regions", region=home(name), RegionNames=[name], AllRegions=True)
    except AwsRefusal as refused:
        if refused.kind is not RefusalKind.ANSWER:
            raise
        yield error("live-region", f"AWS has no region {name}: {refused.message}", ("region",))
        return
    status = response["Regions"][0].get("OptInStatus", "opt-in-not-required")
    if status not in _OPEN:
        message = f"the region {name} is not enabled for this account ({status})"
        yield error("live-region", message, ("region",), f"aws account enable-region --region-name {name}")


@check("availability zones", "ec2:DescribeAvailabilityZones")
def zone(scene: Scene) -> Iterator[Finding]:
    """Every zone in use exists for the account and is opted in to.

    A name such as us-east-1a is a different zone in each account, an id is not; some zones are closed to new accounts.
    Source: EC2 API reference, DescribeAvailabilityZones (State, OptInStatus).
    """
    response = scene.aws.ask("ec2", "describe_availability_zones", AllAvailabilityZones=True)
    zones_by_id = {
        availability_zone["ZoneId"]: availability_zone
        for availability_zone in response["AvailabilityZones"]
        if "ZoneId" in availability_zone
    }
    paths = {name: bought.at("zones" if bought.terms.kind in ("on_demand", "spot", "reservation_group") else "zone")
             for bought in scene.bought() for name in bought.terms.zones}  # fmt: skip
    for name in used_zones(scene.environment):
        path = paths.get(name, ("aws", "pools"))
        if name not in zones_by_id:
            yield error(
                "live-zone", f"this account has no zone {name}", path, f"it has {', '.join(sorted(zones_by_id))}"
            )
        elif zones_by_id[name].get("OptInStatus", "opt-in-not-required") not in _OPEN:
            yield error("live-zone", f"the zone {name} is not opted in to", path, "opt in to its zone group first")
        elif zones_by_id[name].get("State", "available") != "available":
            reasons = "; ".join(message["Message"] for message in zones_by_id[name].get("Messages") or ())
            yield warning(
                "live-zone", f"the zone {name} is {zones_by_id[name]['State']}{f': {reasons}' if reasons else ''}", path
            )
