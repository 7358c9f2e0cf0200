"""CPU options of launches in the emulated AWS: it refuses what EC2 refuses."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.unit.aws_emulator.conftest import Stack


def launch(ec2: Any, stack: Stack, **parameters: Any) -> Any:
    nic = [{"DeviceIndex": 0, "SubnetId": stack.subnets[0], "DeleteOnTermination": True}]
    template = {"LaunchTemplateId": stack.template}
    return ec2.run_instances(
        LaunchTemplate=template, MinCount=1, MaxCount=1, NetworkInterfaces=nic, DryRun=True, **parameters
    )


def refusal(ec2: Any, stack: Stack, **parameters: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as caught:
        launch(ec2, stack, **parameters)
    return caught.value.response["Error"]["Code"], caught.value.response["Error"]["Message"]


@pytest.mark.parametrize(
    ("instance", "options", "code", "word"),
    [
        ("p5.48xlarge", {"CoreCount": 96}, "InvalidParameterCombination", "both"),
        ("p5.48xlarge", {"ThreadsPerCore": 1}, "InvalidParameterCombination", "both"),
        ("p5.48xlarge", {"CoreCount": 97, "ThreadsPerCore": 1}, "InvalidParameterValue", "CoreCount"),
        ("p5.48xlarge", {"CoreCount": 96, "ThreadsPerCore": 3}, "InvalidParameterValue", "ThreadsPerCore"),
        ("g4dn.metal", {"CoreCount": 48, "ThreadsPerCore": 1}, "InvalidParameterCombination", "bare metal"),
    ],
)
def test_wrong_cpu_options_are_refused(
    ec2: Any, stack: Stack, instance: str, options: dict[str, int], code: str, word: str
) -> None:
    refused = refusal(ec2, stack, InstanceType=instance, CpuOptions=options)
    assert refused[0] == code and word in refused[1]


def test_valid_cpu_options_are_accepted(ec2: Any, stack: Stack) -> None:
    accepted = refusal(ec2, stack, CpuOptions={"CoreCount": 96, "ThreadsPerCore": 1})
    assert accepted[0] == "DryRunOperation"


def test_a_request_replaces_the_cpu_options_of_its_template(ec2: Any, stack: Stack) -> None:
    data = {"CpuOptions": {"CoreCount": 96, "ThreadsPerCore": 1}}
    ec2.create_launch_template_version(
        LaunchTemplateId=stack.template,
        SourceVersion="1",
        LaunchTemplateData={**data, "ImageId": "ami-0a11ce5a9db0c5000"},
    )
    template = {"LaunchTemplateId": stack.template, "Version": "$Latest"}
    nic = [{"DeviceIndex": 0, "SubnetId": stack.subnets[0]}]
    call = {"LaunchTemplate": template, "MinCount": 1, "MaxCount": 1, "NetworkInterfaces": nic, "DryRun": True}
    with pytest.raises(ClientError, match="CoreCount"):
        ec2.run_instances(**call, InstanceType="p5.4xlarge")
    with pytest.raises(ClientError, match="DryRunOperation"):
        ec2.run_instances(**call, InstanceType="p5.4xlarge", CpuOptions={"CoreCount": 8, "ThreadsPerCore": 1})
