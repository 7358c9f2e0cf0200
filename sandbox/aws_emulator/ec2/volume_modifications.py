"""Checks of ModifyVolume, and modifications that are not complete, which EC2 has and moto does not have.

Source (2026-11-30): EC2 API Reference, ModifyVolume and VolumeModification; botocore's VolumeModificationRateExceededException (four
modifications in a rolling period of 24 hours, and none while one is in progress); sodafoundation/strato issues 1094 and 1120 (codes and sentences).
"""

from datetime import timedelta
from typing import Any

from moto.ec2.models import EC2Backend
from moto.ec2.models.elastic_block_store import VolumeModification

from landbridge.catalog.aws.impact import impact_facts
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.network.checks import error
from sandbox.aws_emulator.server.moto_hooks import before


def install(emulator: EmulatorState) -> None:
    """Install the checks and states in moto. Global to the process, as moto's state is."""
    before(EC2Backend, "modify_volume", lambda backend, arguments: _modify(emulator, backend, arguments))
    VolumeModification.modification_state = property(lambda each: _state(emulator, each))
    VolumeModification.progress = property(lambda each: 100 if _state(emulator, each) == "completed" else 0)


def _modify(emulator: EmulatorState, backend: Any, arguments: dict[str, Any]) -> None:
    volume, size = backend.get_volume(arguments["volume_id"]), arguments.get("target_size")
    facts = impact_facts().types["aws:ebs/volume:Volume"].properties["size"]
    refusal = facts.refusal(volume.size, size)
    if refusal is not None and refusal[1]:
        raise error("InvalidParameterValue", f"{refusal[0].says}.")
    if volume.modifications and _state(emulator, volume.modifications[-1]) != "completed":
        message = f"Volume {volume.id} cannot be modified in modification state OPTIMIZING"
        raise error("IncorrectModificationState", message)
    past = emulator.modified.setdefault(volume.id, [])
    for rate in facts.refuses:
        if rate.hours is not None:
            recent = [at for at in past if emulator.now() - at < timedelta(hours=rate.hours)]
            if len(recent) >= rate.times:
                raise error("VolumeModificationRateExceeded", f"{rate.says}.")
    past.append(emulator.now())


def _state(emulator: EmulatorState, modification: VolumeModification) -> str:
    """Return the state of a modification: only the last one of a volume can be in progress."""
    volume = modification.volume
    past = emulator.modified.get(volume.id, [])
    is_recent = bool(past) and emulator.now() - past[-1] < emulator.volume_change
    return "optimizing" if is_recent and modification is volume.modifications[-1] else "completed"
