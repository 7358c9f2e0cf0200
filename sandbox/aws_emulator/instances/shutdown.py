"""Instance-initiated shutdown: terminates or stops the instance by its InstanceInitiatedShutdownBehavior."""

import sys
import threading

from sandbox.aws_emulator.ec2.actions import terminate
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.instances import moto_instances as account

STOPPED = ("stopped", 80)
REASON = "Client.InstanceInitiatedShutdown: Instance initiated shutdown"


def apply_shutdowns(emulator: EmulatorState) -> None:
    """Terminate or stop every instance whose machine has shut down since the last call."""
    for instance_id in emulator.lifecycle.switched_off():
        backend_and_instance = account.find_instance(instance_id)
        if backend_and_instance is None or backend_and_instance[1].state != "running":
            continue
        backend, instance = backend_and_instance
        with emulator.lock:
            if instance.instance_initiated_shutdown_behavior == "terminate":
                terminate(emulator, backend, [instance_id], REASON)
            else:
                account.mark(instance_id, STOPPED, REASON)


def watch(emulator: EmulatorState, ended: threading.Event, seconds: float = 1.0) -> None:
    """Call `apply_shutdowns` in the background, every `seconds`, until `ended` is set."""

    def loop() -> None:
        while not ended.wait(seconds):
            try:
                apply_shutdowns(emulator)
            except Exception as error:  # noqa: BLE001  the next check may succeed
                print(f"check of shut down machines failed: {error}", file=sys.stderr, flush=True)

    threading.Thread(target=loop, name="shutdowns", daemon=True).start()
