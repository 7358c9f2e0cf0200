"""Launcher of lab nodes, for hosts that can run the lab."""

from sandbox.aws_emulator.instances.launcher import LaunchedInstance
from sandbox.nspawn.from_environment import instance_gpus
from sandbox.nspawn.layout import layout
from sandbox.nspawn.machine import cloud_node


class LabLauncher:
    """Launcher of one lab node for each instance: same name, cloud network segment, image of the same id."""

    def __init__(self) -> None:
        self._lab = layout()

    def launch(self, instance: LaunchedInstance) -> None:
        cloud_node.launch(self._lab, instance.id, instance.address, instance.image, instance_gpus(instance.type))

    def terminate(self, instance_id: str) -> None:
        cloud_node.terminate(self._lab, instance_id)

    def console(self, instance_id: str) -> bytes:
        return cloud_node.console(self._lab, instance_id)

    def switched_off(self, instance_id: str) -> bool:
        return cloud_node.switched_off(self._lab, instance_id)
