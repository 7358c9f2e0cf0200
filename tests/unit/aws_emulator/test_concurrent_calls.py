"""Calls at the same time: a call iterates over a table in which another call creates an entry."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sandbox.aws_emulator.process import EmulatorProcess

TABLES = 300


def test_route_tables_are_created_at_the_same_time(cloud: EmulatorProcess, ec2: Any) -> None:
    cloud.control(quotas={"L-589F43AA": TABLES + 1})
    vpc = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]

    def create(_: int) -> str:
        return str(ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"])

    with ThreadPoolExecutor(16) as pool:
        assert len(set(pool.map(create, range(TABLES)))) == TABLES
