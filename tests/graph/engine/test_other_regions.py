"""Another region under Pulumi's real engine: created, extended, destroyed; the own region stays unchanged."""

from pathlib import Path

import pytest

from landbridge.plan.roles.burst import burst_config
from landbridge.realise import pulumi
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.engine.find import Engine
from tests.graph.components.test_other_regions import LISTED, OHIO
from tests.graph.engine.test_link import changed, kinds
from tests.graph.support.inventory import client, left

pytestmark = [pytest.mark.engine]
FAR = "us-east-2"


def test_life_of_another_region(engine: Engine, cloud: EmulatorProcess, environment_file: Path) -> None:
    before = left(cloud), left(cloud, FAR)
    alone = changed(environment_file, *LISTED)
    assert pulumi.up(alone, environment_file).outputs is not None
    home = left(cloud), left(cloud, FAR)

    both = changed(environment_file, *OHIO)
    grown = pulumi.up(both, environment_file)
    # The pool's group permits the other range, roles may use resources there; nothing in the own region is replaced.
    assert set(kinds(grown)) == {"create", "update"} and grown.outputs is not None
    assert pulumi.up(both, environment_file).changed == 0
    assert pulumi.refresh(both, environment_file).changed == 0

    # The burst controller's configuration agrees with the resources.
    places = burst_config(both, grown.outputs)["pools"]["p5"]["offerings"]
    away = [place for place in places if place.get("region") == FAR]
    assert [place["zone"] for place in away] == ["use2-az1", "use2-az2"] and places[-2:] == away
    ec2 = client(cloud, "ec2", FAR)
    known = {subnet["SubnetId"]: subnet["AvailabilityZoneId"] for subnet in ec2.describe_subnets()["Subnets"]}
    assert all(known[place["subnet"]] == place["zone"] for place in away)
    templates = ec2.describe_launch_templates(LaunchTemplateIds=[away[0]["launch_template_id"]])["LaunchTemplates"]
    assert [template["LaunchTemplateName"] for template in templates] == ["graph-p5"]

    # One more zone is a subnet and its resources; the other zones stay unchanged.
    wider = changed(environment_file, "zones: [use2-az1, use2-az2]", "zones: [use2-az1, use2-az2, use2-az3]")
    more = pulumi.up(wider, environment_file)
    assert set(kinds(more)) <= {"create", "update"}

    # Without the other region, the own region is as before; after destroy nothing is left in either.
    environment_file.write_text(
        environment_file.read_text().replace(OHIO[1].replace("use2-az2]", "use2-az2, use2-az3]"), OHIO[0])
    )
    assert set(kinds(pulumi.up(changed(environment_file, "", ""), environment_file))) == {"delete", "update"}
    assert (left(cloud), left(cloud, FAR)) == home
    pulumi.destroy(changed(environment_file, "", ""), environment_file)
    assert (left(cloud), left(cloud, FAR)) == before
