"""Checks of existing placement groups in the file."""

from collections.abc import Iterator

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.findings import DataPath, Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error


@check("placement groups", "ec2:DescribePlacementGroups")
def placement_group(scene: Scene) -> Iterator[Finding]:
    """A placement group in the file exists and has the pool's strategy.

    Source: EC2 User Guide, "Placement groups"; EC2 API reference, DescribePlacementGroups.
    """
    seen: set[tuple[str, DataPath]] = set()
    for bought in scene.bought():
        name = bought.terms.placement_group
        has_group = getattr(bought.capacity, "placement_group", None) is not None
        path = bought.at("placement_group") if has_group else bought.pool_at("placement_group")
        if name is None or (name, path) in seen:
            continue
        seen.add((name, path))
        try:
            group = scene.aws.ask("ec2", "describe_placement_groups", GroupNames=[name])["PlacementGroups"][0]
        except AwsRefusal as refused:
            if refused.kind is not RefusalKind.ANSWER:
                raise
            message = f"there is no placement group {name} in {scene.environment.region}"
            fix = f"aws ec2 create-placement-group --group-name {name} --strategy {bought.terms.placement or 'cluster'}"
            yield error("live-placement-group", message, path, fix)
            continue
        if bought.terms.placement is not None and group["Strategy"] != bought.terms.placement:
            message = f"the placement group {name} is a {group['Strategy']} group, and the pool has placement {bought.terms.placement}"
            yield error("live-placement-group", message, path, f"write placement: {group['Strategy']}")
        if group["State"] != "available":
            yield error("live-placement-group", f"the placement group {name} is {group['State']}", path)
