"""Prefork server of plugins: it imports their modules and reads AWS's service models once, and forks a process for each plugin.

Every operation of Pulumi starts two plugins; most of its time would be spent on imports of the plugins and the program.
If the variable of sandbox.pulumi_provider.prefork_client contains the socket of such a server, they start in a few
milliseconds.
"""

import array
import gc
import json
import os
import selectors
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any, NoReturn

#: Modules imported in advance: the plugins, and the modules of the stack's program.
AHEAD = (
    "sandbox.pulumi_provider.provider",
    "sandbox.pulumi_provider.language",
    "components",
    "landbridge.environment.file.load",
)
STANDARD_FILES = 3  # input, output, errors


@contextmanager
def prefork_server(folder: Path, ahead: Sequence[str] = AHEAD) -> Iterator[Path]:
    """Run a server until the end of the block or of this process; yield the path of its socket in `folder`."""
    path, root = folder / "prefork", Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "sandbox.pulumi_provider.prefork", str(path), *ahead]
    with Popen(command, stdin=PIPE, stdout=PIPE, cwd=root) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        if not server.stdout.readline():
            raise RuntimeError("the server of plugins did not start")
        try:
            yield path
        finally:
            server.stdin.close()


def main(path: str, *ahead: str) -> None:
    """Serve until standard input ends. The process has a single thread, because a fork copies only one thread."""
    sys.path.pop(0)  # a plugin imports installed modules, not those beside this file
    for name in ahead:
        getattr(import_module(name), "before_fork", lambda: None)()
    gc.collect()
    gc.freeze()  # a collection in a fork would copy the memory that it looks at
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server, selectors.DefaultSelector() as either:
        server.bind(path)
        server.listen(64)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no process waits for the forks
        either.register(server, selectors.EVENT_READ)
        either.register(sys.stdin, selectors.EVENT_READ)
        print("ready", flush=True)
        while all(key.fileobj is server for key, _ in either.select()):
            client, _ = server.accept()
            with client:
                if os.fork() == 0:
                    server.close()
                    _run_plugin(client)


def _run_plugin(client: socket.socket) -> NoReturn:
    """Run the plugin in this fork, with the client's files, environment and folder; end when the client ends."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        request, files = _receive_request(client)
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.environ.clear()
        os.environ.update(request["variables"])
        os.chdir(request["folder"])
        sys.argv[:] = request["arguments"]
        threading.Thread(target=_end_with_client, args=(client,), daemon=True).start()
        import_module(request["module"]).main(os.getppid())
    finally:
        os._exit(1)


def _end_with_client(client: socket.socket) -> None:
    client.recv(1)
    os._exit(0)


def _receive_request(client: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Read the request of sandbox.pulumi_provider.prefork_client: a line of JSON, sent with the open files."""
    files = array.array("i")
    text, control, _, _ = client.recvmsg(1 << 20, socket.CMSG_SPACE(STANDARD_FILES * files.itemsize))
    for level, kind, data in control:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            files.frombytes(data)
    while not text.endswith(b"\n"):
        text += client.recv(1 << 20)
    return json.loads(text), list(files)


if __name__ == "__main__":
    main(*sys.argv[1:])
