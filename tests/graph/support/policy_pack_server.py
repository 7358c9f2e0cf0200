"""Server of the CrossGuard pack, started as Pulumi starts it, in the pack's virtual environment."""

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
    """Yield a client of the pack, which runs in a folder outside the checkout: it must find the checkout itself."""
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
    properties = struct_pb2.Struct()
    properties.update(props)
    options = analyzer_pb2.AnalyzerResourceOptions(protect=protect)
    request = analyzer_pb2.AnalyzeRequest(
        type=kind, properties=properties, urn=f"urn:pulumi:s::p::{kind}::x", name="x", options=options
    )
    violations: dict[str, list[str]] = {}
    for diagnostic in analyzer.Analyze(request, timeout=300).diagnostics:
        violations.setdefault(diagnostic.policyName, []).append(diagnostic.message)
    return violations
