"""Instance-initiated shutdown: terminates or stops the instance by its InstanceInitiatedShutdownBehavior."""

import sys
import threading

from sandbox.aws_emulator.ec2.actions import terminate
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.instances import moto_instances as account

STOPPED = ("stopped", 80)
REASON = "Client.InstanceInitiatedShutdown: Instance initiated shutdown"


def look(world: EmulatorState) -> None:
    """Follow every machine that has gone since the last look."""
    for instance_id in world.lifecycle.switched_off():
        found = account.find_instance(instance_id)
        if found is None or found[1].state != "running":
            continue
        backend, instance = found
        with world.lock:
            if instance.instance_initiated_shutdown_behavior == "terminate":
                terminate(world, backend, [instance_id], REASON)
            else:
                account.mark(instance_id, STOPPED, REASON)


def watch(world: EmulatorState, ended: threading.Event, seconds: float = 1.0) -> None:
    """Look again and again, in the background."""

    def go() -> None:
        while not ended.wait(seconds):
            try:
                look(world)
            except Exception as error:  # noqa: BLE001  the next check may succeed
                print(f"looking after machines failed: {error}", file=sys.stderr, flush=True)

    threading.Thread(target=go, name="shutdowns", daemon=True).start()
