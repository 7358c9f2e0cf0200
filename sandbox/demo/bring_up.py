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
    """One environment on its way up; every method is a step that may be repeated."""

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
        self.new_cloud = False

    def all(self) -> None:
        """Every step, in order."""
        self.check()
        self.sites()
        self.stack()
        self.machines()
        self._at_once(self.configure, self.far_side, self.image)
        self.tunnel()

    def stands(self) -> bool:
        """True when the emulated AWS runs, Slurm answers, and the tunnel is up."""
        if running_cloud(self.lab) is None:
            return False
        try:
            self.cluster.run(service_hosts(self.environment).logins[0], "sinfo", "--noheader")
            return self.linked()
        except (ClusterError, LabError):
            return False

    def check(self) -> None:
        """The environment file, as a platform engineer checks it."""
        with self.report.step("check the environment file") as step:
            findings = json_command([program("landbridge"), "check", "-s", self.name, "--format", "json"], cwd=ROOT)
            step.result = f"{self.path.name}: {len(findings.get('findings', findings))} findings"

    def sites(self) -> None:
        """Two sites' networks, the internet between them, and the emulated AWS."""
        with self.report.step("networks and emulated AWS") as step:
            lab.prepare(self.lab, from_environment.site(self.name), step.note)
            self.new_cloud = running_cloud(self.lab) is None
            cloud = ensure_cloud(self.lab, self.environment)
            step.result = f"AWS stand-in at {cloud.endpoint}"

    def variables(self) -> Mapping[str, str]:
        """Environment variables of the operator's commands: the engine and its stand-ins, and where AWS is."""
        return command_variables(ensure_cloud(self.lab, self.environment), self.name)

    def stack(self) -> None:
        """AWS, as `landbridge up` builds it."""
        with self.report.step("pulumi up") as step:
            # An emulated AWS forgets when it ends; Pulumi, which remembers, has to look again.
            refresh = ["--refresh"] if self.new_cloud else []
            output = self._landbridge("up", "-s", self.name, "--yes", "--format", "json", *refresh)
            result = json.loads(output[output.index("{") :])
            self.report.made(result.get("resources", {}))
            step.result = ", ".join(f"{count} {what}" for what, count in result.get("changes", {}).items())

    def machines(self) -> None:
        """Every machine of the on-prem site, and AWS's end of the tunnel."""
        with self.report.step("boot the on-prem machines") as step:
            booted = lab.up(self.lab, from_environment.site(self.name), step.note)
            step.result = f"{len(booted)} booted"

    def far_side(self) -> None:
        """AWS's VPN endpoint, played by a lab node with Landbridge's gateway role."""
        with self.report.step("configure AWS's end of the tunnel"):
            words = [program("ansible-playbook"), "-i", str(self.path), "-i", str(self._far_inventory())]
            command(
                [*words, "sandbox/nspawn/aws_side.yml"], env=self.variables(), cwd=ROOT, log=self.logs / "far-side.log"
            )

    def configure(self) -> None:
        """The on-prem site, as `landbridge configure` does it."""
        with self.report.step("configure the on-prem machines"):
            self._landbridge("configure", "-s", self.name, timeout=1500)

    def image(self) -> None:
        """The cloud nodes' image, from the roles that configure the on-prem nodes."""
        from sandbox.nspawn.machine import image_builder

        with self.report.step("cloud node image") as step:
            for pool in self.environment.aws.pools:
                built = image_builder.build(self.lab, self.environment, str(pool.image), step.note)
                step.result = "built" if built else "from the cache"

    def tunnel(self) -> None:
        """Wait for the tunnel and for BGP on it."""
        with self.report.step("tunnel and BGP") as step:
            started = time.monotonic()
            self.wait_for_tunnel()
            step.result = f"up after {time.monotonic() - started:.0f} s of waiting"

    def wait_for_tunnel(self) -> None:
        """Wait until each gateway has the other site's routes from BGP."""
        wait_for("routes to the other site on both gateways", self.missing_routes, lambda missing: not missing)

    def linked(self) -> bool:
        """Tell whether each gateway has the other site's routes from BGP."""
        return not self.missing_routes()

    def missing_routes(self) -> list[str]:
        """Return the routes to the other site that a gateway does not have from BGP."""
        hosts = service_hosts(self.environment)
        expected = {str(hosts.gateway): str(self.environment.aws.cidr), AWS_GATEWAY: str(hosts.cidr)}
        return [
            f"{prefix} on {gateway}"
            for gateway, prefix in expected.items()
            if prefix not in bgp_routes(self.cluster, gateway)
        ]

    @staticmethod
    def _at_once(*steps: Callable[[], None]) -> None:
        """Steps that need nothing of each other; the first error, once all have ended."""
        with ThreadPoolExecutor(len(steps)) as pool:
            futures = [pool.submit(step) for step in steps]
        for future in futures:
            future.result()

    def _landbridge(self, *words: str, timeout: float = 900) -> str:
        log = self.logs / f"{words[0]}.log"
        return command([program("landbridge"), *words], env=self.variables(), cwd=ROOT, log=log, timeout=timeout)

    def _far_inventory(self) -> Path:
        """AWS's end as one more host; how to reach it comes with the environment's own inventory."""
        path = state_dir(self.name) / "inventory" / "far-side.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        address = node_record(self.lab, AWS_GATEWAY).address
        path.write_text(json.dumps({"all": {"hosts": {AWS_GATEWAY: {"ansible_host": address}}}}))
        return path


def bring_up(path: Path, report: DemoReport, *, keep: bool = False) -> BringUp:
    """Bring the environment up; with `keep`, a cluster that stands as this checkout builds it is taken as it is.

    LabError becomes DemoError with the same advice.
    """
    deployment = BringUp(path, report)
    stamp = deployment.lab.state / "brought-up"
    current = fingerprint()
    try:
        if not (keep and stamp.exists() and stamp.read_text() == current and deployment.stands()):
            stamp.unlink(missing_ok=True)
            deployment.all()
            stamp.write_text(current)
    except LabError as error:
        raise DemoError(str(error), getattr(error, "fix", "")) from error
    return deployment


def fingerprint() -> str:
    """A hash of everything of this checkout that a running cluster is made of."""
    digest = hashlib.sha256()
    for folder in ("ansible", "components", "examples", "landbridge", "sandbox", "stacks"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and not {"__pycache__", ".venv"} & set(path.relative_to(ROOT).parts):
                digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()
