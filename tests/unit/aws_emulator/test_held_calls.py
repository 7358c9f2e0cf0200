"""Answers that an injected fault delays: they are counted, and a reset ends the delay."""

import threading
from typing import Any

from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.demo.cluster import wait_for
from tests.unit.aws_emulator.test_emulator_lag import refused


def test_a_held_call_has_taken_effect_or_not_and_a_reset_answers_it(cloud: EmulatorProcess, ec2: Any) -> None:
    before = len(ec2.describe_vpcs()["Vpcs"])
    held = [{"hold": 3600, "after": True}, {"hold": 3600, "code": "Unavailable", "status": 503}]
    cloud.control(reset=True, faults={"CreateVpc": held})
    answers: list[str] = []

    def create(cidr: str) -> None:
        answers.append(ec2.create_vpc(CidrBlock=cidr)["Vpc"]["CidrBlock"])

    def fail(cidr: str) -> None:
        answers.append(refused(ec2.create_vpc, CidrBlock=cidr))

    calls = [threading.Thread(target=create, args=["10.1.0.0/16"]), threading.Thread(target=fail, args=["10.2.0.0/16"])]
    for number, call in enumerate(calls, 1):
        call.start()
        wait_for("the held call", lambda: cloud.control()["held"], {"CreateVpc": number}.__eq__)
    assert len(ec2.describe_vpcs()["Vpcs"]) == before + 1 and answers == []
    cloud.control(reset=True)
    for call in calls:
        call.join()
    assert sorted(answers) == ["10.1.0.0/16", "Unavailable"] and cloud.control()["held"] == {}
