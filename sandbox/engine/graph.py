"""Run a Pulumi program in this process, without an engine, and keep its whole resource graph.

The SDK's own mocks are the base; this adds what they lack: parents in the key of a resource, an error for two resources
with one URN, protect and secrets as the engine would see them, and stack outputs.
"""

import asyncio
import contextvars
import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

import pulumi
from pulumi.runtime import mocks, rpc, settings
from pulumi.runtime.stack import run_in_stack

from sandbox.engine.wire import Bag, asset, plain, signed

STACK = "pulumi:pulumi:Stack"


class Backing(Protocol):
    """What answers for the provider."""

    def create(self, token: str, name: str, inputs: Bag) -> tuple[str, Bag]:
        """Return a resource's id and its whole state."""

    def invoke(self, token: str, arguments: Bag) -> Bag:
        """Return a function's answer."""


@dataclass(frozen=True)
class Node:
    """One registered resource."""

    key: str
    type: str
    name: str
    parent: str
    custom: bool
    inputs: Bag
    provider: str
    protect: bool
    retain: bool
    dependencies: tuple[str, ...]


@dataclass
class Graph:
    """What a program registered, in the order in which it did, and what it exported."""

    nodes: dict[str, Node] = field(default_factory=dict)
    outputs: Bag = field(default_factory=dict)
    secret_outputs: frozenset[str] = frozenset()

    def of_type(self, token: str) -> list[Node]:
        """Every resource of a type."""
        return [node for node in self.nodes.values() if node.type == token]


class DuplicateUrn(Exception):
    """Two resources have the same type, name and parents: the engine would refuse the second."""


class _Monitor(mocks.MockMonitor):
    def __init__(self, backing: Backing, preview: bool) -> None:
        super().__init__(_Mocks(backing, preview))
        self.graph, self._keys, self._lock = Graph(), dict[str, str](), threading.Lock()

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        # The SDK's mocks keep the type of the immediate parent only; the engine keeps them all.
        above = parent.split("::")[2] if parent else ""
        chain = type_ if above in ("", STACK) else f"{above}${type_}"
        return "::".join(["urn:pulumi:" + settings.get_stack(), settings.get_project(), chain, name])

    def RegisterResource(self, request: Any) -> Any:
        urn = self.make_urn(request.parent, request.type, request.name)
        with self._lock:
            if urn in self.graph.nodes:
                raise DuplicateUrn(f"two resources have the URN {urn}")
            if request.type != STACK:
                self.graph.nodes[urn] = Node(
                    key=urn,
                    type=request.type,
                    name=request.name,
                    parent=request.parent,
                    custom=request.custom,
                    inputs=plain(request.object),
                    provider=request.provider,
                    protect=request.protect,
                    retain=request.retainOnDelete,
                    dependencies=tuple(request.dependencies),
                )
        try:
            return super().RegisterResource(request)
        finally:
            _close_thread_loop()

    def Invoke(self, request: Any) -> Any:
        try:
            return super().Invoke(request)
        finally:
            _close_thread_loop()

    def RegisterResourceOutputs(self, request: Any) -> Any:
        if f"::{STACK}::" in request.urn:
            raw = rpc.deserialize_properties(request.outputs, keep_unknowns=True)
            self.graph.secret_outputs = frozenset(key for key, value in raw.items() if rpc.is_rpc_secret(value))
            self.graph.outputs = plain(request.outputs)
        return super().RegisterResourceOutputs(request)


def _close_thread_loop() -> None:
    """The SDK's mocks give each worker thread an event loop and never close it, which complains at exit."""
    if threading.current_thread() is threading.main_thread():
        return
    with suppress(RuntimeError):  # there is none: not every request needs one
        asyncio.get_event_loop_policy().get_event_loop().close()
        asyncio.set_event_loop(None)


class _Mocks(mocks.Mocks):
    def __init__(self, backing: Backing, preview: bool) -> None:
        self._backing, self._preview, self._lock = backing, preview, threading.Lock()

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        inputs = _opened(args.inputs)
        if not args.custom or args.typ.startswith("pulumi:providers:"):
            return f"{args.name}-id", inputs
        if self._preview:
            # As the engine: inputs are known, and nothing that only AWS can say.
            return None, signed(inputs)
        with self._lock:
            id_, state = self._backing.create(args.typ, args.name, inputs)
        return id_, signed(state)

    def call(self, args: mocks.MockCallArgs) -> Any:
        with self._lock:
            return self._backing.invoke(args.token, _opened(args.args))


def _opened(value: Any) -> Any:
    if isinstance(value, dict):
        if rpc.is_rpc_secret(value):
            return _opened(rpc.unwrap_rpc_secret(value))
        return {key: _opened(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_opened(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else asset(value)


def record(
    program: Callable[[], object], *, stack: str, config: Mapping[str, Any], backing: Backing, preview: bool = False
) -> Graph:
    """Run a program and return its graph. Programs do not see one another: each has its own context."""
    return contextvars.copy_context().run(_record, program, stack, config, backing, preview)


def _record(
    program: Callable[[], object], stack: str, config: Mapping[str, Any], backing: Backing, preview: bool
) -> Graph:
    monitor, loop = _Monitor(backing, preview), asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    # After one failure every resource that depends on it fails too; the first is raised, the echoes are not printed.
    loop.set_exception_handler(lambda _loop, _context: None)
    try:
        # set_mocks makes a root stack and finishes it at once, so that exports would never be seen: it finds one there.
        settings.set_root_resource(object())  # type: ignore[arg-type]
        mocks.set_mocks(_Mocks(backing, preview), project="landbridge", stack=stack, preview=preview, monitor=monitor)
        settings.SETTINGS.outputs = set()
        settings.set_root_resource(None)  # type: ignore[arg-type]
        known = {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}
        pulumi.runtime.set_all_config(known)
        loop.run_until_complete(run_in_stack(program))
    finally:
        # What is still being made when the program fails has to end before anybody takes things down.
        loop.run_until_complete(loop.shutdown_default_executor())
        asyncio.set_event_loop(None)
        loop.close()
    return monitor.graph
