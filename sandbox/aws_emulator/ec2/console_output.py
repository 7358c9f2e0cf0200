"""GetConsoleOutput: the console of the instance's machine, where moto has a sample."""

import base64
from typing import Any

from moto.core.utils import utcnow

from sandbox.aws_emulator.emulator_state import EmulatorState


def get(emulator: EmulatorState, response: Any) -> dict[str, Any]:
    """Answer GetConsoleOutput; an instance that has ended keeps its output, as in EC2."""
    instance = response.ec2_backend.get_instance(response._get_param("InstanceId"))
    output = emulator.lifecycle.launcher.console(instance.id)
    return {"InstanceId": instance.id, "Timestamp": utcnow(), "Output": base64.b64encode(output).decode()}
