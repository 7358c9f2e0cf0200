"""Instance state changes: pending until the machine has started, shutting-down until it has ended."""

import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sandbox.aws_emulator.instances.launcher import LaunchedInstance, Launcher, NoLauncher

PENDING, RUNNING, SHUTTING_DOWN, TERMINATED = ("pending", 0), ("running", 16), ("shutting-down", 32), ("terminated", 48)
Mark = Callable[[str, tuple[str, int], str], None]


class InstanceLifecycle:
    """Life cycle of instances: calls a launcher in the background, and `mark(id, state, reason)` at every state change.

    With a boot delay of 0 and no launcher, states change before the call returns.
    """

    def __init__(self, launcher: Launcher, mark: Mark, *, boot_delay: float = 0.0, workers: int = 4) -> None:
        self.launcher, self.boot_delay, self._mark = launcher, boot_delay, mark
        self._stage: dict[str, str] = {}  # waiting, starting, started; absent: ended
        self._unwanted: set[str] = set()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="launcher")
        self._immediate = isinstance(launcher, NoLauncher)

    def start(self, instances: Iterable[LaunchedInstance]) -> None:
        batch = list(instances)
        with self._lock:
            self._stage.update({instance.id: "waiting" for instance in batch})
        for instance in batch:
            self._mark(instance.id, PENDING, "")
        if self.boot_delay > 0:
            timer = threading.Timer(self.boot_delay, self._start_all, [batch])
            timer.daemon = True
            timer.start()
        else:
            self._start_all(batch)

    def end(self, instance_id: str, reason: str) -> None:
        """Terminate one instance in any stage; a second call is not an error."""
        with self._lock:
            stage = self._stage.get(instance_id)
            if stage == "starting":
                self._unwanted.add(instance_id)
            else:
                self._stage.pop(instance_id, None)
        if stage is None:
            return
        if stage == "waiting":
            self._mark(instance_id, TERMINATED, reason)
            return
        self._mark(instance_id, SHUTTING_DOWN, reason)
        if stage == "started":
            self._run(self._destroy, instance_id, reason)

    def switched_off(self) -> list[str]:
        """Return the ids of instances whose machines have shut themselves down."""
        with self._lock:
            started = [instance_id for instance_id, stage in self._stage.items() if stage == "started"]
        return (
            []
            if self._immediate
            else [instance_id for instance_id in started if self.launcher.switched_off(instance_id)]
        )

    def end_all(self, reason: str) -> None:
        """Stop every machine; return when all have ended."""
        with self._lock:
            alive = list(self._stage)
        for instance_id in alive:
            self.end(instance_id, reason)
        self._pool.shutdown(wait=True)

    def _run(self, function: Callable[..., None], *arguments: Any) -> None:
        if self._immediate:
            function(*arguments)
        else:
            self._pool.submit(function, *arguments)

    def _start_all(self, batch: list[LaunchedInstance]) -> None:
        for instance in batch:
            self._run(self._start, instance)

    def _start(self, instance: LaunchedInstance) -> None:
        with self._lock:
            if self._stage.get(instance.id) != "waiting":
                return
            self._stage[instance.id] = "starting"
        failure = instance.failure
        try:
            if not failure:
                self.launcher.launch(instance)
        except Exception as error:  # noqa: BLE001  any failure of a launcher makes the instance fail
            failure = f"Server.InternalError: {error}"
            print(f"launch of {instance.id} failed: {error}", file=sys.stderr, flush=True)
        with self._lock:
            unwanted = instance.id in self._unwanted or bool(failure)
            self._unwanted.discard(instance.id)
            if unwanted:
                self._stage.pop(instance.id, None)
            else:
                self._stage[instance.id] = "started"
        if unwanted:
            self._destroy(instance.id, failure or "Client.UserInitiatedShutdown")
        else:
            self._mark(instance.id, RUNNING, "")

    def _destroy(self, instance_id: str, reason: str) -> None:
        try:
            self.launcher.terminate(instance_id)
        except Exception as error:  # noqa: BLE001  an instance ends in the API even if its machine cannot be removed
            print(f"termination of {instance_id} failed: {error}", file=sys.stderr, flush=True)
        self._mark(instance_id, TERMINATED, reason)
