"""Benchmark of `up` in the sandbox: time, and memory of engine, program and provider.

`python -m bench.up hybrid` runs up twice, refresh and destroy with Pulumi's real engine against the emulated AWS.
"""

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Role of a process by a word of its command line; the first match counts.
ROLES = {
    "pulumi-language-python": "program",
    "pulumi-resource-aws": "provider",
    "sandbox.aws_emulator": "emulated AWS",
    "pulumi": "engine",
}
SAMPLE_SECONDS = 0.05


class Memory:
    """Peak resident size (VmHWM) of this process's descendants in MiB, by role."""

    def __init__(self) -> None:
        self.peak: dict[str, float] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Memory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stopped.wait(SAMPLE_SECONDS):
            for role, mib in _below(os.getpid()):
                self.peak[role] = max(self.peak.get(role, 0.0), mib)


def _below(root: int) -> Iterator[tuple[str, float]]:
    """Yield role and peak size (MiB) of every descendant of process `root`."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError, ValueError):
                continue
    for pid in parents:
        ancestor = parents.get(pid)
        while ancestor and ancestor != root:
            ancestor = parents.get(ancestor)
        if ancestor != root:
            continue
        try:
            words = (Path("/proc") / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            status = (Path("/proc") / str(pid) / "status").read_text()
        except OSError:
            continue
        size = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), 0)
        role = next((role for word, role in ROLES.items() if word in words), None)
        if role is not None:
            yield role, size / 1024


@contextmanager
def _sandbox(name: str) -> Iterator[Path]:
    """Start an emulated AWS and yield an environment file with its endpoint; no resource is protected."""
    from sandbox.aws_emulator.process import running
    from sandbox.pulumi_provider.engine.environment import sandbox_variables
    from sandbox.pulumi_provider.engine.find import Engine, find_engine

    engine = find_engine()
    if not isinstance(engine, Engine):
        sys.exit(f"bench: {engine}")
    with tempfile.TemporaryDirectory(prefix="landbridge-up-") as folder:
        os.environ["XDG_STATE_HOME"] = str(Path(folder) / "state")
        os.environ.update(sandbox_variables("bench", engine))
        with running(Path(folder) / "cloud", "--launcher", "none") as cloud:
            file = Path(folder) / "Pulumi.bench.yaml"
            text = (ROOT / "stacks" / f"Pulumi.{name}.yaml").read_text()
            emulated = f"    aws:\n      protect: false\n      endpoints: {{operator: '{cloud.endpoint}'}}\n"
            file.write_text(text.replace("    aws:\n", emulated, 1))
            yield file


def main() -> int:
    """Print one row for each operation; return 1 if one fails."""
    parser = argparse.ArgumentParser(prog="python -m bench.up", description=__doc__)
    parser.add_argument("environment", nargs="?", default="hybrid", help="one of stacks/Pulumi.*.yaml")
    name = parser.parse_args().environment
    with _sandbox(name) as file:
        from landbridge.environment import load_environment
        from landbridge.realise import pulumi

        environment = load_environment(file).environment
        if environment is None:
            sys.exit(f"bench: {file} does not load")
        roles = ("engine", "program", "provider", "emulated AWS")
        print(f"{name:22} {'seconds':>8} {'resources':>10}   peak MiB: {', '.join(roles)}")
        rows = (("up", "up"), ("up again", "up"), ("refresh", "refresh"), ("destroy", "destroy"))
        for title, operation in rows:
            started = time.monotonic()
            with Memory() as memory:
                try:
                    result = getattr(pulumi, operation)(environment, file)
                except pulumi.PulumiFailed as error:
                    print(f"bench: {title}: {error}", file=sys.stderr)
                    return 1
            took, count = time.monotonic() - started, sum(result.changes.values())
            sizes = ", ".join(f"{memory.peak.get(role, 0):.0f}" for role in roles)
            print(f"{title:22} {took:8.1f} {count:10}   {sizes}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
