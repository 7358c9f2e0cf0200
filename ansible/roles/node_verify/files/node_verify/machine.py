"""Machine: its files below a root folder, the output of its programs, and its instance metadata."""

import os
import re
import subprocess
import urllib.request
from pathlib import Path

#: Folders of programs: the distribution's, the EFA installer's, and Slurm's in AWS ParallelCluster.
FOLDERS = (
    *("usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin", "sbin", "bin"),
    *("opt/amazon/efa/bin", "opt/slurm/sbin", "opt/slurm/bin"),
)


class Machine:
    """A machine's files below `root`, and the output of its programs; with another root only programs below it run."""

    def __init__(self, root="/", run=None, metadata=None):
        self.root, self._run, self._metadata = Path(root), run, metadata

    def glob(self, patterns):
        return sorted(path for pattern in patterns for path in self.root.glob(pattern.lstrip("/")))

    def text(self, name):
        """Return a file's text; empty if it does not exist."""
        try:
            return (self.root / name.lstrip("/")).read_text(errors="replace")
        except OSError:
            return ""

    def output(self, *command):
        """Return a program's output; None if the program is missing or fails."""
        if self._run is not None:
            return self._run(command)
        program = next(
            (
                self.root / folder / command[0]
                for folder in FOLDERS
                if os.access(self.root / folder / command[0], os.X_OK)
            ),
            None,
        )
        if program is None:
            return None
        try:
            environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "HOME": "/root"}
            completed = subprocess.run(
                [program, *command[1:]],
                env=environment,
                capture_output=True,
                text=True,
                timeout=60,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return completed.stdout + completed.stderr if completed.returncode == 0 else None

    def has(self, program):
        return bool(self.glob(f"{folder}/{program}" for folder in FOLDERS))

    def metadata(self, path):
        """Return a value of the instance metadata (IMDSv2); None outside of EC2."""
        if self._metadata is not None or self.root != Path("/"):
            return (self._metadata or {}).get(path)
        try:
            address, header = "http://169.254.169.254/latest", "X-aws-ec2-metadata-token"
            put = urllib.request.Request(f"{address}/api/token", method="PUT", headers={f"{header}-ttl-seconds": "60"})
            token = urllib.request.urlopen(put, timeout=2).read().decode()
            request = urllib.request.Request(f"{address}/meta-data/{path}", headers={header: token})
            return urllib.request.urlopen(request, timeout=2).read().decode()
        except (OSError, ValueError):
            return None

    def kernel(self, mode):
        """Return the kernel of the node: the running one at boot, on a builder the newest one installed."""
        names = [path.name.removeprefix("vmlinuz-") for path in self.glob(["boot/vmlinuz-*"])]
        if mode == "image" and names:
            return max(names, key=lambda name: [int(part) for part in re.findall(r"\d+", name)])
        return (self.output("uname", "-r") or "").strip()

    def module(self, name, field, mode):
        """Return a field of a kernel module of the node's kernel; empty if the kernel has no such module."""
        return (self.output("modinfo", "-k", self.kernel(mode), "-F", field, name) or "").strip()
