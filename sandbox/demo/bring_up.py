"""Bring up a hybrid cluster in the lab in repeatable steps, for the demonstration and tests/e2e."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from landbridge.environment import Environment, load_environment
from landbridge.paths import state_dir
from landbridge.plan.network.hosts import service_hosts
from sandbox.demo.cluster import ClusterError, LabCluster, bgp_routes, wait_for
from sandbox.demo.report import DemoError, DemoReport
from sandbox.demo.work import command, json_command, program
from sandbox.nspawn import from_environment, lab
from sandbox.nspawn.errors import LabError
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine.node import load as node_record
from sandbox.nspawn.site import AWS_GATEWAY
from sandbox.session import command_variables, ensure_cloud, running_cloud

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class BringUp:
    """Bring-up of one environment; every method is a repeatable step."""

    path: Path
    report: DemoReport
    lab: Layout = field(default_factory=layout)

    def __post_init__(self) -> None:
        loaded = load_environment(self.path)
        if loaded.environment is None:
            raise DemoError(f"{self.path} has errors", f"landbridge check -s {self.path.stem.removeprefix('Pulumi.')}")
        self.environment: Environment = loaded.environment
        self.name = self.environment.name
        self.logs = state_dir(self.name) / "logs"
        self.cluster = LabCluster(self.lab)

    @property
    def file(self) -> tuple[str, str]:
        """Return the option that names the environment file."""
        return "--file", str(self.path)

    def all(self) -> None:
        """Run every step, in order."""
        self.check()
        self.sites()
        self.stack()
        self.machines()
        self._in_parallel(self.configure, self.far_side, self.image)
        self.tunnel()

    def is_up(self) -> bool:
        """Return true if the emulated AWS runs, Slurm answers, and the tunnel is up."""
        if running_cloud(self.lab) is None:
            return False
        try:
            self.cluster.run(service_hosts(self.environment).logins[0], "sinfo", "--noheader")
            return self.linked()
        except (ClusterError, LabError):
            return False

    def check(self) -> None:
        """Check the environment file with `landbridge check`."""
        with self.report.step("check the environment file") as step:
            findings = json_command([program("landbridge"), "check", *self.file, "--format", "json"], cwd=ROOT)
            step.result = f"{self.path.name}: {len(findings.get('findings', findings))} findings"

    def sites(self) -> None:
        """Start both sites' networks, the internet between them, and the emulated AWS."""
        with self.report.step("networks and emulated AWS") as step:
            lab.prepare(self.lab, from_environment.site_of(self.environment), step.note)
            cloud = ensure_cloud(self.lab, self.environment)
            step.result = f"AWS stand-in at {cloud.endpoint}"

    def variables(self) -> Mapping[str, str]:
        """Return environment variables of the operator's commands: engine, stand-ins and AWS endpoints."""
        return command_variables(ensure_cloud(self.lab, self.environment), self.name)

    def stack(self) -> None:
        """Create the AWS resources with `landbridge up`."""
        with self.report.step("pulumi up") as step:
            output = self._landbridge("up", *self.file, "--yes", "--format", "json")
            result = json.loads(output[output.index("{") :])
            self.report.add_resources(result.get("resources", {}))
            step.result = ", ".join(f"{count} {change}" for change, count in result.get("changes", {}).items())

    def machines(self) -> None:
        """Boot every machine of the on-prem site, and the node of AWS's end of the tunnel."""
        with self.report.step("boot the on-prem machines") as step:
            booted = lab.up(self.lab, from_environment.site_of(self.environment), step.note)
            step.result = f"{len(booted)} booted"

    def far_side(self) -> None:
        """Configure the stand-in of AWS's VPN endpoint: a lab node with the site_gateway role."""
        with self.report.step("configure AWS's end of the tunnel"):
            words = [program("ansible-playbook"), "-i", str(self.path), "-i", str(self._far_inventory())]
            command(
                [*words, "sandbox/nspawn/aws_side.yml"], env=self.variables(), cwd=ROOT, log=self.logs / "far-side.log"
            )

    def configure(self) -> None:
        """Configure the on-prem site with `landbridge configure`."""
        with self.report.step("configure the on-prem machines"):
            self._landbridge("configure", *self.file, timeout=1500)

    def image(self) -> None:
        """Build the cloud nodes' image, with the roles that configure the on-prem nodes."""
        from sandbox.nspawn.machine import image_builder

        with self.report.step("cloud node image") as step:
            for pool in self.environment.aws.pools:
                built = image_builder.build(self.lab, self.environment, str(pool.image), step.note)
                step.result = "built" if built else "from the cache"

    def tunnel(self) -> None:
        """Wait for the tunnel and its BGP session."""
        with self.report.step("tunnel and BGP") as step:
            started = time.monotonic()
            self.wait_for_tunnel()
            step.result = f"up after {time.monotonic() - started:.0f} s of waiting"

    def wait_for_tunnel(self) -> None:
        """Wait until each gateway has the other site's routes from BGP."""
        wait_for("routes to the other site on both gateways", self.missing_routes, lambda missing: not missing)

    def linked(self) -> bool:
        """Return true if each gateway has the other site's routes from BGP."""
        return not self.missing_routes()

    def missing_routes(self) -> list[str]:
        """Return the routes to the other site that a gateway does not have from BGP."""
        hosts = service_hosts(self.environment)
        expected = {**dict.fromkeys(hosts.gateways, str(self.environment.aws.cidr)), AWS_GATEWAY: str(hosts.cidr)}
        return [
            f"{prefix} on {gateway}"
            for gateway, prefix in expected.items()
            if prefix not in bgp_routes(self.cluster, gateway)
        ]

    @staticmethod
    def _in_parallel(*steps: Callable[[], None]) -> None:
        """Run independent steps in parallel; raise the first error once all have ended."""
        with ThreadPoolExecutor(len(steps)) as pool:
            futures = [pool.submit(step) for step in steps]
        for future in futures:
            future.result()

    def _landbridge(self, *words: str, timeout: float = 900) -> str:
        log = self.logs / f"{words[0]}.log"
        return command([program("landbridge"), *words], env=self.variables(), cwd=ROOT, log=log, timeout=timeout)

    def _far_inventory(self) -> Path:
        """Write an inventory with the gateway at AWS's end of the tunnel as a host; the environment's inventory has its connection variables."""
        path = state_dir(self.name) / "inventory" / "far-side.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        address = node_record(self.lab, AWS_GATEWAY).address
        path.write_text(json.dumps({"all": {"hosts": {AWS_GATEWAY: {"ansible_host": address}}}}))
        return path


def bring_up(path: Path, report: DemoReport, *, keep: bool = False) -> BringUp:
    """Bring the environment up; with `keep`, reuse a running cluster that this checkout has built.

    Raise DemoError for a LabError, with the same fix.
    """
    deployment = BringUp(path, report)
    stamp = deployment.lab.state / "brought-up"
    current = fingerprint(path)
    try:
        if not (keep and stamp.exists() and stamp.read_text() == current and deployment.is_up()):
            stamp.unlink(missing_ok=True)
            deployment.all()
            stamp.write_text(current)
    except LabError as error:
        raise DemoError(str(error), getattr(error, "fix", "")) from error
    return deployment


def fingerprint(environment_file: Path) -> str:
    """Return a hash of the environment file and of all files of this checkout that determine a running cluster."""
    digest = hashlib.sha256(environment_file.read_bytes())
    for folder in ("ansible", "components", "examples", "landbridge", "sandbox", "stacks"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and not {"__pycache__", ".venv"} & set(path.relative_to(ROOT).parts):
                digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()
