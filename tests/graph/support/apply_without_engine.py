"""Resources of a program, created in the emulated AWS one after the other: no engine, no state, no plan."""

from typing import Any

from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider.aws import RESOURCE_TYPES, AwsResource, EmulatedAws
from sandbox.pulumi_provider.aws.invokes import invoke
from sandbox.pulumi_provider.partial_creation import create


class Making:
    """Backing that creates the registered resources in the emulated AWS."""

    def __init__(self, cloud: EmulatorProcess, region: str) -> None:
        self._connection = EmulatedAws(cloud.endpoint, region)
        #: Type, name, id, inputs and state of each created resource.
        self.created: list[tuple[str, str, str, dict[str, Any], dict[str, Any]]] = []

    def create(self, token: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        if token not in RESOURCE_TYPES:
            return name, inputs  # the provider itself
        id_, outputs = create(self.kind(token, inputs), inputs)
        state = {**inputs, **{key: value for key, value in outputs.items() if value is not None}}
        self.created.append((token, name, id_, inputs, state))
        return id_, state

    def kind(self, token: str, inputs: dict[str, Any]) -> AwsResource:
        return RESOURCE_TYPES[token](self._connection.at(inputs.get("region")))

    def invoke(self, token: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return invoke(self._connection, token, arguments)
