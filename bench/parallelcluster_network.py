"""Subnet and image for ParallelCluster's configurations, as JSON; runs in its own Python and is not measured."""

import json
import sys

import boto3


def main() -> int:
    """Create the subnet, find the image, and print their ids. The endpoint is in the environment variables."""
    ec2 = boto3.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.60.0.0/16")["Vpc"]["VpcId"]
    zone = f"{ec2.meta.region_name}a"
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.60.0.0/18", AvailabilityZone=zone)["Subnet"]["SubnetId"]
    images = ec2.describe_images(Owners=["amazon"])["Images"]
    image = next(
        image["ImageId"] for image in images if "Ubuntu 22.04" in image["Name"] and image["Architecture"] == "x86_64"
    )
    json.dump({"subnet": subnet, "image": image}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
