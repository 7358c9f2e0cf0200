"""Programs that Pulumi runs through a language host: policy packs and component packages."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any

from pulumi.runtime.proto import language_pb2 as pb

#: Python options of Pulumi's host by kind of plugin; other kinds are run as a program.
_RUNNERS = {"analyzer": ("-m", "pulumi.policy")}
_STREAMS = ("stdout", "stderr")


def interpreter(info: Any) -> str:
    """Return the Python of the folder's `virtualenv` if that exists; else the current interpreter."""
    virtualenv = dict(info.options).get("virtualenv")
    python = Path(info.root_directory, str(virtualenv), "bin", "python") if virtualenv else None
    return str(python) if python is not None and python.exists() else sys.executable


def command(request: Any) -> list[str]:
    """Return the command of a RunPlugin request.

    The program of a policy pack comes last, that of a plugin before its arguments.
    """
    python, program = [interpreter(request.info), "-u"], request.info.program_directory
    runner = _RUNNERS.get(request.kind)
    return [*python, *runner, *request.args, program] if runner else [*python, program, *request.args]


def run(request: Any, context: Any) -> Iterator[Any]:
    """Run the program until it ends or the client disconnects; yield its output and its exit status."""
    environment = dict(pair.split("=", 1) for pair in request.env if "=" in pair)
    # A separate session: the engine interrupts its process group at the end of a run, and also calls Cancel of plugins.
    process = subprocess.Popen(
        command(request),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=request.pwd or None,
        env=environment or None,
        start_new_session=True,
    )
    if not context.add_callback(process.kill):
        process.kill()
    printed: SimpleQueue[tuple[str, bytes]] = SimpleQueue()
    for name in _STREAMS:
        Thread(target=_pass_on, args=(name, getattr(process, name), printed), daemon=True).start()
    open_streams = set(_STREAMS)
    while open_streams:
        name, text = printed.get()
        if text:
            answer = pb.RunPluginResponse()
            setattr(answer, name, text)
            yield answer
        else:
            open_streams.discard(name)
    yield pb.RunPluginResponse(exitcode=process.wait())


def _pass_on(name: str, stream: IO[bytes], printed: "SimpleQueue[tuple[str, bytes]]") -> None:
    while text := stream.read1(65536):  # type: ignore[attr-defined]
        printed.put((name, text))
    printed.put((name, b""))
