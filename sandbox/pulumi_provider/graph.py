"""Run a Pulumi program in this process, without an engine, and keep its whole resource graph.

The SDK's own mocks are the base; this module adds parents in the key of a resource, an error for two resources
with one URN, protect and secrets as the engine would see them, and stack outputs.
"""

import asyncio
import contextvars
import gc
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

import pulumi
from pulumi.runtime import mocks, resource, rpc, settings
from pulumi.runtime.proto import source_pb2
from pulumi.runtime.stack import run_in_stack

from sandbox.pulumi_provider.serialization import Bag, asset, plain, signed, unknown_inside

STACK = "pulumi:pulumi:Stack"
REFERENCE = "pulumi:pulumi:StackReference"


class Backing(Protocol):
    """Interface of the provider behind a recorded program."""

    def create(self, token: str, name: str, inputs: Bag) -> tuple[str, Bag]:
        """Return a resource's id and its whole state."""

    def invoke(self, token: str, arguments: Bag) -> Bag:
        """Return a function's answer."""


@dataclass(frozen=True)
class GraphNode:
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
    """Resources that a program registered, in their order, and its exports."""

    nodes: dict[str, GraphNode] = field(default_factory=dict)
    outputs: Bag = field(default_factory=dict)
    secret_outputs: frozenset[str] = frozenset()

    def of_type(self, token: str) -> list[GraphNode]:
        """Every resource of a type."""
        return [node for node in self.nodes.values() if node.type == token]


class DuplicateUrn(Exception):
    """Two resources have the same type, name and parents: the engine would refuse the second."""


class NoSuchStack(Exception):
    """A program reads the outputs of a stack that is not there: the engine would refuse it."""


class _Monitor(mocks.MockMonitor):
    def __init__(self, answers: "_Mocks") -> None:
        super().__init__(answers)
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
                self.graph.nodes[urn] = GraphNode(
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

    def ReadResource(self, request: Any) -> Any:
        try:
            return super().ReadResource(request)
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


class _OneByOne(set[asyncio.Task[Any]]):
    """Futures that the SDK waits for at the end. It waits for all of them, and again for the rest whenever one is done.

    That takes the square of their number. Every one has to be done in the end: it is shown them one at a time.
    """

    def __iter__(self) -> Iterator[asyncio.Task[Any]]:
        self._shown = next(super().__iter__())
        return iter((self._shown,))

    def clear(self) -> None:
        self.discard(self._shown)


class _Mocks(mocks.Mocks):
    def __init__(self, backing: Backing, preview: bool, stacks: Mapping[str, Bag]) -> None:
        self._backing, self._preview, self._lock = backing, preview, threading.Lock()
        self._stacks = stacks

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        inputs = _opened(args.inputs)
        if args.typ == REFERENCE:
            return args.resource_id, self._reference(inputs["name"])
        if not args.custom or args.typ.startswith("pulumi:providers:"):
            return f"{args.name}-id", inputs
        if self._preview:
            # As the engine: inputs are known, and nothing that only AWS can say.
            return None, signed(inputs)
        with self._lock:
            id_, state = self._backing.create(args.typ, args.name, inputs)
        return id_, signed(state)

    def _reference(self, name: str) -> Bag:
        stack = name.rsplit("/", 1)[-1]
        if stack not in self._stacks:
            raise NoSuchStack(f'unknown stack "{name}"')
        # The engine does not return values unknown in a preview: a stack after a preview has no outputs yet.
        outputs = {key: value for key, value in self._stacks[stack].items() if not unknown_inside(value)}
        return {"name": name, "outputs": outputs, "secretOutputNames": []}

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
    program: Callable[[], object],
    *,
    stack: str,
    config: Mapping[str, Any],
    backing: Backing,
    preview: bool = False,
    stacks: Mapping[str, Bag] | None = None,
) -> Graph:
    """Run a program and return its graph. Programs do not see one another: each has its own context.

    `stacks` are the outputs of the other stacks that there are, by name.
    """
    answers = _Mocks(backing, preview, stacks or {})
    with _nothing_collected(), _no_traces():
        return contextvars.copy_context().run(_record, program, stack, config, answers, preview)


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Without the garbage collector: a program makes hundreds of thousands of objects that live as long as it does, and
    looking through them again and again takes half of the time (10 pools of 5 types: 1.9 s instead of 3.2, 30 MiB more)."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


@contextmanager
def _no_traces() -> Iterator[None]:
    """Without the place in the program that each resource comes from: only an engine would tell it, and it takes a sixth of
    the time to look at the whole stack for each."""
    of_each = resource._get_stack_trace
    resource._get_stack_trace = source_pb2.StackTrace
    try:
        yield
    finally:
        resource._get_stack_trace = of_each


def _record(
    program: Callable[[], object], stack: str, config: Mapping[str, Any], answers: _Mocks, preview: bool
) -> Graph:
    monitor, loop = _Monitor(answers), asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    # After one failure every resource that depends on it fails too; the first is raised, the echoes are not printed.
    loop.set_exception_handler(lambda _loop, _context: None)
    try:
        # set_mocks makes a root stack and finishes it at once, so that exports would never be seen: it finds one there.
        settings.set_root_resource(object())  # type: ignore[arg-type]
        mocks.set_mocks(
            answers,
            project="landbridge",
            stack=stack,
            preview=preview,
            monitor=monitor,
            # The engine's value when state is in a folder or a bucket.
            organization="organization",
        )
        settings.SETTINGS.outputs = _OneByOne()
        settings.set_root_resource(None)  # type: ignore[arg-type]
        known = {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}
        pulumi.runtime.set_all_config(known)
        loop.run_until_complete(run_in_stack(program))
    finally:
        # Creations in progress must end before resources are removed after a failure.
        loop.run_until_complete(loop.shutdown_default_executor())
        asyncio.set_event_loop(None)
        loop.close()
    return monitor.graph
