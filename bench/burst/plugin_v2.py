"""Calls that aws-plugin-for-slurm (branch plugin-v2, 2023) makes to start nodes; runs in the peer's own Python.

    python plugin_v2.py TEMPLATE SUBNET NODE...

Written from its observed calls, not copied: one CreateFleet for all nodes, one DescribeInstances for
their addresses, then for each node one CreateTags and one `scontrol update`, all of them one after the other.
"""

import subprocess
import sys

import boto3


def main() -> int:
    template, subnet, *nodes = sys.argv[1:]
    ec2 = boto3.client("ec2")
    fleet = ec2.create_fleet(
        Type="instant",
        LaunchTemplateConfigs=[
            {
                "LaunchTemplateSpecification": {"LaunchTemplateName": template, "Version": "$Latest"},
                "Overrides": [{"InstanceType": "p5.48xlarge", "SubnetId": subnet}],
            }
        ],
        TargetCapacitySpecification={
            "TotalTargetCapacity": len(nodes),
            "OnDemandTargetCapacity": len(nodes),
            "DefaultTargetCapacityType": "on-demand",
        },
        OnDemandOptions={"AllocationStrategy": "lowest-price"},
    )
    ids = [instance_id for instance_set in fleet["Instances"] for instance_id in instance_set["InstanceIds"]]
    response = ec2.describe_instances(InstanceIds=ids)
    instances = [instance for reservation in response["Reservations"] for instance in reservation["Instances"]]
    for node, instance in zip(nodes, instances, strict=False):
        ec2.create_tags(Resources=[instance["InstanceId"]], Tags=[{"Key": "Name", "Value": node}])
        address, name = instance["PrivateIpAddress"], instance["PrivateDnsName"].partition(".")[0]
        update = ["scontrol", "update", f"nodename={node}", f"nodeaddr={address}", f"nodehostname={name}"]
        subprocess.run(update, check=True)
    return 0 if len(instances) == len(nodes) else 1


if __name__ == "__main__":
    sys.exit(main())
