"""The CrossGuard pack's own server, as Pulumi starts it, in the environment that set-up makes for it."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import struct_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

from tests.graph.conftest import ROOT

PACK = ROOT / "components" / "policy"
PYTHON = PACK / ".venv" / "bin" / "python"


@contextmanager
def serving(folder: Path) -> Iterator[Any]:
    """A client of the pack, which runs in a folder that is not the checkout: the pack itself finds what it needs of it."""
    assert PYTHON.exists(), "make setup"
    command = [PYTHON, "-u", "-m", "pulumi.policy", "127.0.0.1:1", str(PACK)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as server:
        try:
            assert server.stdout is not None
            with grpc.insecure_channel(f"127.0.0.1:{int(server.stdout.readline())}") as channel:
                yield analyzer_pb2_grpc.AnalyzerStub(channel)
        finally:
            server.kill()


def ask(analyzer: Any, kind: str, protect: bool = True, **props: Any) -> dict[str, list[str]]:
    """Return the violations of one resource by policy, as the pack reports them."""
    bag = struct_pb2.Struct()
    bag.update(props)
    options = analyzer_pb2.AnalyzerResourceOptions(protect=protect)
    request = analyzer_pb2.AnalyzeRequest(
        type=kind, properties=bag, urn=f"urn:pulumi:s::p::{kind}::x", name="x", options=options
    )
    found: dict[str, list[str]] = {}
    for one in analyzer.Analyze(request, timeout=300).diagnostics:
        found.setdefault(one.policyName, []).append(one.message)
    return found
