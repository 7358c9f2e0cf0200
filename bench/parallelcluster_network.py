"""Runs in ParallelCluster's own Python, unmeasured: a subnet and an image to name in its configurations, as JSON."""

import json
import sys

import boto3


def main() -> int:
    """Print them; where, the environment says."""
    ec2 = boto3.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.60.0.0/16")["Vpc"]["VpcId"]
    zone = f"{ec2.meta.region_name}a"
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.60.0.0/18", AvailabilityZone=zone)["Subnet"]["SubnetId"]
    images = ec2.describe_images(Owners=["amazon"])["Images"]
    image = next(one["ImageId"] for one in images if "Ubuntu 22.04" in one["Name"] and one["Architecture"] == "x86_64")
    json.dump({"subnet": subnet, "image": image}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
