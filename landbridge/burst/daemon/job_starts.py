"""Server of PrologSlurmctld: one thread answers on a Unix socket when a job's nodes are up, or when it may not start.

All waiting programs share one query of Slurm, at most once a second. A question is `job NUL nodes NUL account NUL wckey
NUL`; the answer is a line with the exit status and a text. Nothing is kept: a program whose connection ends asks again.
"""

import contextlib
import os
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from landbridge.burst.daemon.log import log
from landbridge.burst.daemon.prolog_program import Program
from landbridge.burst.model import BurstPolicy, Ec2View, State
from landbridge.burst.reconcile.job_start import (
    JobStart,
    cloud_nodes,
    has_hard_budget,
    reason_to_hold,
    refusal,
    refusal_by_budget,
    refusal_in_regions,
    refused_regions,
    regions_of_nodes,
    verdict,
)
from landbridge.burst.slurm.slurm import SlurmError
from landbridge.hostlist import HostlistError, expand

#: Time for which a job that may not start waits until the daemon sets its nodes down: four intervals of the daemon.
REFUSED_SECONDS = 60.0
#: Time for which a job on nodes of several zones or instance types waits until the daemon moves it, or records that it
#: stays. Nodes apart make a job slow, not wrong.
APART_SECONDS = 60.0
MAX_WAIT_SECONDS = 3600.0
#: Programs that wait for nodes of jobs that may start; further ones end at once, and Slurm starts their jobs at its
#: check, every 30 s. A waiting shell has 0.1 MB.
MAX_WAITING = 300
MAX_QUESTION_BYTES = 1 << 20
#: Interval of the shared query: the least and the longest, and its relation to the time that the last one took.
MIN_QUERY_SECONDS, MAX_QUERY_SECONDS, QUERY_SHARE = 1.0, 2.0, 10.0

#: Time for the end of the thread, which may be in a query.
JOIN_SECONDS = 20.0

Query = Callable[[Sequence[str]], Mapping[str, frozenset[str]]]


def seconds_until_next_query(waited: float, took: float = 0.0) -> float:
    """Return the interval of the shared query: it grows with the shortest wait and the time of the last query."""
    return max(min(MAX_QUERY_SECONDS, MIN_QUERY_SECONDS + waited / 40), QUERY_SHARE * took)


class JobStarts:
    """Server thread. The daemon's thread calls `use`, `seen`, `saved`, `forget` and `close`.

    `query`: states of nodes in Slurm; raises SlurmError. `wake`: starts a pass of the daemon.
    """

    def __init__(self, query: Query, wake: Callable[[], None]) -> None:
        self._query, self._wake = query, wake
        self._policy: BurstPolicy | None = None
        self._regions: tuple[float, Mapping[str, str]] | None = None  # and the time at which the pass began
        self._journal: tuple[float, State] | None = None  # likewise
        self._programs: dict[int, Program] = {}
        self._queried: tuple[float, float] = (-1e9, 0.0)  # monotonic time of the last query's end, and its seconds
        self._error = ""
        self._path: Path | None = None
        self._selector: selectors.BaseSelector | None = None
        self._thread: threading.Thread | None = None
        self._closing = self._asks_again = False

    # The daemon's thread.

    def use(self, policy: BurstPolicy) -> None:
        """Decide by this policy from now on; connected programs ask again."""
        self._policy, self._regions, self._journal, self._asks_again = policy, None, None, True

    def seen(self, state: State, ec2: Ec2View | None, began: float) -> None:
        """Take the regions of the nodes from a pass that began at this monotonic time."""
        policy = self._policy
        if policy is not None and len(policy.regions) > 1:
            self._regions = (began, regions_of_nodes(state, ec2, policy))

    def saved(self, state: State, began: float) -> None:
        """Take the journal that a pass, which began at this monotonic time, has written."""
        self._journal = began, state

    def forget(self) -> None:
        """Forget regions and journal: this host's controller does not act, so it does not see changes."""
        self._regions = self._journal = None

    def listen(self, path: Path) -> None:
        """Open the socket at `path`; without it the programs decide alone."""
        self.close()
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            os.fchmod(server.fileno(), 0o600)  # Linux: the mode of the file that bind creates
            server.bind(str(path))
            server.listen(4096)
        except OSError as error:
            server.close()
            log(f"{path}: {error.strerror}: PrologSlurmctld decides without the daemon")
            return
        server.setblocking(False)
        self._selector, self._path, self._closing = selectors.DefaultSelector(), path, False
        self._selector.register(server, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, args=(server, self._selector), name="job-starts", daemon=True)
        self._thread.start()

    @property
    def has_failed(self) -> bool:
        """Return whether the thread has ended without `close`: its programs would wait without an answer."""
        return self._thread is not None and not self._thread.is_alive()

    def close(self) -> None:
        """End the thread; the programs ask again."""
        thread, self._thread, self._closing = self._thread, None, True
        if thread is not None:
            thread.join(timeout=JOIN_SECONDS)
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    # The server's thread.

    def _run(self, server: socket.socket, selector: selectors.BaseSelector) -> None:
        try:
            while not self._closing:
                self._turn(server, selector)
        finally:
            for program in list(self._programs.values()):
                self._end(program)
            server.close()
            selector.close()

    def _turn(self, server: socket.socket, selector: selectors.BaseSelector) -> None:
        """Serve the events until the next query, and make it if it is due."""
        if self._asks_again:
            self._asks_again = False
            for program in list(self._programs.values()):
                self._end(program)
        seconds = min(MIN_QUERY_SECONDS, max(0.0, self._query_due() - time.monotonic()))
        for key, _ in selector.select(seconds):
            if key.fileobj is server:
                self._accept(server)
            elif key.fd in self._programs:
                self._receive(self._programs[key.fd])
        if self._waiting() and time.monotonic() >= self._query_due():
            self._answer(self._states())

    def _query_due(self) -> float:
        waiting = self._waiting()
        if not waiting:
            return time.monotonic() + MAX_QUERY_SECONDS
        at, took = self._queried
        shortest_wait = time.monotonic() - max(program.asked_at for program in waiting)
        return at + seconds_until_next_query(shortest_wait, took)

    def _waiting(self) -> list[Program]:
        return [program for program in self._programs.values() if program.start is not None]

    def _accept(self, server: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            connection, _ = server.accept()
            _, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            if uid not in (0, os.geteuid()):
                connection.close()
                return
            connection.setblocking(False)
            self._programs[connection.fileno()] = Program(connection, time.monotonic())
            assert self._selector is not None
            self._selector.register(connection, selectors.EVENT_READ)

    def _receive(self, program: Program) -> None:
        try:
            data = program.connection.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        program.received += data
        # slurmctld ends the programs of cancelled jobs.
        if not data or len(program.received) > MAX_QUESTION_BYTES:
            self._end(program)
        elif program.start is None and program.received.count(b"\0") >= 4:
            self._asked(program)

    def _asked(self, program: Program) -> None:
        """Answer a question immediately if no wait is needed."""
        job, nodes, account, wckey, *_ = program.received.decode(errors="surrogateescape").split("\0")
        policy = self._policy
        try:
            program.start = JobStart(job, tuple(expand(nodes)), account, wckey)
        except HostlistError as error:
            self._end(program, 1, str(error))
            return
        if policy is None:
            self._end(program)
            return
        program.nodes = cloud_nodes(program.start, policy)
        program.reason = refusal(program.start, policy)
        program.refused_regions = refused_regions(program.start, policy)
        program.is_unpaid = has_hard_budget(program.start, policy)
        if not program.nodes or (program.may_leave and len(self._programs) > MAX_WAITING):
            self._end(program, 0)
        elif program.reason is not None:
            log(f"job {job} does not start on {nodes}: {program.reason}")
            self._wake()

    def _states(self) -> Mapping[str, frozenset[str]]:
        """Return the states of all nodes that programs wait for; empty if Slurm does not answer."""
        names = sorted({node for program in self._waiting() for node in program.nodes})
        began = time.monotonic()
        try:
            states, self._error = self._query(names), ""
        except SlurmError as error:
            states = {}
            if str(error) != self._error:
                log(f"job starts: {error}")
            self._error = str(error)
        self._queried = (time.monotonic(), time.monotonic() - began)
        return states

    def _answer(self, states: Mapping[str, frozenset[str]]) -> None:
        for program in self._waiting():
            shown = [states[node] for node in program.nodes if node in states]
            self._decide(program, verdict(shown) if len(shown) == len(program.nodes) else "wait")

    def _decide(self, program: Program, word: str) -> None:
        """Answer a program whose nodes are up and checked, or lost; after a loss Slurm has requeued the job."""
        now = time.monotonic()
        if word == "up" and program.up_at is None:
            program.up_at = now
        if word == "up" and program.reason is None and program.refused_regions:
            self._check_regions(program)
        if word == "up" and program.reason is None and program.is_unpaid:
            self._check_budget(program)
        waited = now - program.asked_at
        if word == "down":
            self._end(program, 0, program.reason or "")
        elif program.reason is not None and now - max(program.asked_at, program.up_at or 0.0) > REFUSED_SECONDS:
            self._end(program, 1, program.reason)
        elif (
            program.may_leave
            and not program.is_unpaid
            and (waited > MAX_WAIT_SECONDS or (word == "up" and not self._hold_apart(program, now)))
        ):
            self._end(program, 0)

    def _hold_apart(self, program: Program, now: float) -> bool:
        """Return whether a job waits because its nodes are apart. The first time, start a pass that moves it."""
        policy, start, up_at = self._policy, program.start, program.up_at
        if policy is None or start is None or up_at is None or now - up_at > APART_SECONDS:
            return False
        reason = reason_to_hold(start, up_at, self._journal, policy)
        if reason is not None and not program.is_held:
            program.is_held = True
            log(f"job {start.job} waits: {reason}")
            self._wake()
        return reason is not None

    def _check_regions(self, program: Program) -> None:
        """Compare the regions with a pass that began after the nodes were up; without it, start such a pass."""
        regions = self._regions
        if regions is None or program.up_at is None or regions[0] < program.up_at:
            self._wake()
            if program.up_at is not None and time.monotonic() - program.up_at > REFUSED_SECONDS:
                program.reason = "the regions of the nodes are not known"
            return
        program.reason = refusal_in_regions(program.nodes, program.refused_regions, regions[1])
        if program.reason is None:
            program.refused_regions = {}
        else:
            self._wake()

    def _check_budget(self, program: Program) -> None:
        """Read from the journal of a pass that began after the question whether the account pays; without it, start such
        a pass. The pass that refuses the job requeues it."""
        policy, start, journal = self._policy, program.start, self._journal
        if policy is None or start is None:
            return
        if journal is None or journal[0] < program.asked_at:
            self._wake()
            if program.up_at is not None and time.monotonic() - program.up_at > REFUSED_SECONDS:
                program.reason = f"no pass has shown whether account {start.account} pays"
            return
        program.reason = refusal_by_budget(start, journal[1], policy)
        program.is_unpaid = program.reason is not None

    def _end(self, program: Program, status: int | None = None, text: str = "") -> None:
        """Close a connection, with an answer or without."""
        number = program.connection.fileno()
        if self._programs.pop(number, None) is None:
            return
        if self._selector is not None:
            self._selector.unregister(program.connection)
        with contextlib.suppress(OSError):
            if status is not None:
                program.connection.sendall(f"{status} {' '.join(text.split())}\n".encode(errors="replace"))
        program.connection.close()
