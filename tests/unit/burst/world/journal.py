"""The journal between the controller and its faults: a real Store, or a State in memory that obeys the same calls."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from landbridge.burst.journal.store import Store
from landbridge.burst.model import Charge, DecisionRecord, OrderKind, SlurmOrder, State
from tests.unit.burst.world.faults import Faults


class Keeper(Protocol):
    """Methods of a Store that a pass needs."""

    def append(
        self, kind: OrderKind, nodes: Iterable[str], jobs: Mapping[int, tuple[str, ...]], at: float
    ) -> object: ...
    def load(self) -> State: ...
    def load_with_charges(self) -> tuple[State, list[Charge]]: ...
    def save(self, before: State, after: State) -> None: ...
    def record(self, records: Iterable[DecisionRecord]) -> None: ...
    def close(self) -> None: ...


class Memory:
    """Journal in memory."""

    def __init__(self) -> None:
        self.state = State()
        self.seq = 0

    def append(self, kind: OrderKind, nodes: Iterable[str], jobs: Mapping[int, tuple[str, ...]], at: float) -> None:
        self.seq += 1
        self.state = replace(
            self.state, orders=(*self.state.orders, SlurmOrder(self.seq, kind, tuple(nodes), at, jobs))
        )

    def load(self) -> State:
        return replace(self.state, charges=())

    def load_with_charges(self) -> tuple[State, list[Charge]]:
        return self.state, list(self.state.charges)

    def save(self, before: State, after: State) -> None:
        retained = {order.seq for order in after.orders}
        new = tuple(o for o in self.state.orders if o.seq in retained or o not in before.orders)
        charges = (*self.state.charges, *after.charges[len(before.charges) :])
        self.state = replace(after, orders=new, charges=charges)

    def record(self, records: Iterable[DecisionRecord]) -> None:
        list(records)

    def close(self) -> None:
        """Do nothing."""


class Journal:
    """Journal whose every call is a possible crash; `saving` is called before each write."""

    def __init__(self, folder: Path | None, faults: Faults, saving: Callable[[State, State], None]) -> None:
        self.folder, self.faults, self.saving = folder, faults, saving
        self.number = 0
        self.keeper = self._open()

    def _open(self) -> Keeper:
        return Memory() if self.folder is None else Store(self.folder / f"burst{self.number}.db")

    def restart(self) -> None:
        """Open the journal again, as a new process does."""
        if self.folder is not None:
            self.keeper.close()
            self.keeper = self._open()

    def lose(self) -> None:
        """Replace the journal by an empty one: its file was lost."""
        self.keeper.close()
        self.number += 1
        self.keeper = self._open()

    def append(self, kind: OrderKind, nodes: tuple[str, ...], jobs: Mapping[int, tuple[str, ...]], at: float) -> None:
        self.keeper.append(kind, nodes, jobs, at)

    def load(self) -> State:
        with self.faults.call("store.load", "store"):
            return self.keeper.load()

    def save(self, before: State, after: State) -> None:
        self.saving(before, after)
        with self.faults.call("store.save", "store"):
            self.keeper.save(before, after)

    def record(self, records: Iterable[DecisionRecord]) -> None:
        with self.faults.call("store.record", "store"):
            self.keeper.record(records)

    def close(self) -> None:
        self.keeper.close()
