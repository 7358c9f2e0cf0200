"""From nothing to a running hybrid cluster in the lab, in repeatable steps. The demonstration and tests/e2e share it."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from landbridge.environment import Environment, load_environment
from landbridge.paths import outputs_file, secrets_dir, state_dir
from sandbox.demo.cluster import Cluster, bgp_established, wait_for
from sandbox.demo.report import DemoError, Report
from sandbox.demo.work import command, json_command, program
from sandbox.lab import from_environment, lab
from sandbox.lab.errors import LabError
from sandbox.lab.layout import Layout, layout
from sandbox.lab.node import load as node_record
from sandbox.session import ensure_cloud, operator_variables

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class BringUp:
    """One environment on its way up; every method is a step that may be repeated."""

    path: Path
    report: Report
    lab: Layout = field(default_factory=layout)

    def __post_init__(self) -> None:
        loaded = load_environment(self.path)
        if loaded.environment is None:
            raise DemoError(f"{self.path} has errors", f"landbridge check -s {self.path.stem.removeprefix('Pulumi.')}")
        self.environment: Environment = loaded.environment
        self.name = self.environment.name
        self.logs = state_dir(self.name) / "logs"
        self.cluster = Cluster(self.lab)

    def all(self) -> None:
        """Every step, in order."""
        self.check()
        self.sites()
        self.stack()
        self.machines()
        self.far_side()
        self.configure()
        self.image()
        self.tunnel()

    def check(self) -> None:
        """The environment file, as a platform engineer checks it."""
        with self.report.step("check the environment file") as step:
            findings = json_command([program("landbridge"), "check", "-s", self.name, "--format", "json"], cwd=ROOT)
            step.result = f"{self.path.name}: {len(findings.get('findings', findings))} findings"

    def sites(self) -> None:
        """Two sites' networks, the internet between them, and the emulated AWS."""
        with self.report.step("networks and emulated AWS") as step:
            lab.prepare(self.lab, from_environment.site(self.name), step.note)
            cloud = ensure_cloud(self.lab, self.environment)
            step.result = f"AWS stand-in at {cloud.endpoint}"

    def variables(self) -> Mapping[str, str]:
        """Environment variables of the operator's commands: the engine and its stand-ins, and where AWS is."""
        from sandbox.engine.environment import sandbox_variables
        from sandbox.engine.find import Engine, find_engine

        found = find_engine()
        cloud = ensure_cloud(self.lab, self.environment)
        return {**operator_variables(cloud), **sandbox_variables(self.name, found if isinstance(found, Engine) else None)}

    def stack(self) -> None:
        """AWS, as `landbridge up` builds it."""
        with self.report.step("pulumi up") as step:
            said = self._landbridge("up", "-s", self.name, "--yes", "--format", "json")
            result = json.loads(said[said.index("{") :])
            self.report.made(result.get("resources", {}))
            step.result = ", ".join(f"{count} {what}" for what, count in result.get("changes", {}).items())

    def machines(self) -> None:
        """Every machine of the on-prem site, and AWS's end of the tunnel."""
        with self.report.step("boot the on-prem machines") as step:
            booted = lab.up(self.lab, from_environment.site(self.name), step.note)
            step.result = f"{len(booted)} booted"

    def far_side(self) -> None:
        """AWS's VPN endpoint: what Amazon does behind the API, done by a lab node with our own gateway role."""
        with self.report.step("AWS's end of the tunnel"):
            link = self.environment.link
            facts = {
                "landbridge_outputs": json.loads(outputs_file(self.name).read_text()),
                "landbridge_secrets": str(secrets_dir(self.name)),
                "landbridge_onprem_cidrs": [str(self.environment.onprem.cidr)],
                "landbridge_onprem_asn": getattr(link, "onprem_asn", None),
            }
            inventory = self._inventory({"awsgw": node_record(self.lab, "awsgw").address})
            self._ansible("sandbox/lab/aws_side.yml", inventory, facts)

    def configure(self) -> None:
        """The on-prem site, as `landbridge configure` does it."""
        with self.report.step("configure the on-prem machines"):
            self._landbridge("configure", "-s", self.name, timeout=1500)

    def image(self) -> None:
        """The cloud nodes' image, from the roles that configure the on-prem nodes."""
        from sandbox.lab import image_builder

        with self.report.step("cloud node image") as step:
            for pool in self.environment.aws.pools:
                built = image_builder.build(self.lab, self.environment, str(pool.image), step.note)
                step.result = "built" if built else "from the cache"

    def tunnel(self) -> None:
        """Wait for the tunnel and for BGP on it."""
        with self.report.step("tunnel and BGP") as step:
            gateway = self.environment.onprem.services.gateway
            seconds = wait_for("a BGP session with AWS", lambda: bgp_established(self.cluster, gateway), 60)
            step.result = f"established after {seconds:.0f} s of waiting"

    def _landbridge(self, *words: str, timeout: float = 900) -> str:
        log = self.logs / f"{words[0]}.log"
        return command([program("landbridge"), *words], env=self.variables(), cwd=ROOT, log=log, timeout=timeout)

    def _inventory(self, hosts: Mapping[str, str]) -> Path:
        access = self.environment.onprem.access
        options = f"-o ProxyCommand='{access.proxy_command}' -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
        common = {
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(self.lab.private_key),
            "ansible_ssh_common_args": options,
            "ansible_python_interpreter": "/usr/bin/python3",
        }
        listed = {"all": {"hosts": {name: {"ansible_host": address} for name, address in hosts.items()}, "vars": common}}
        path = state_dir(self.name) / "inventory" / "far-side.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(listed))
        return path

    def _ansible(self, playbook: str, inventory: Path, facts: Mapping[str, object]) -> None:
        extra = inventory.with_suffix(".vars.json")
        extra.write_text(json.dumps(facts))
        words = [program("ansible-playbook"), "-i", str(inventory), "-e", f"@{extra}", playbook]
        env = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")}
        command(words, env=env, cwd=ROOT, log=self.logs / "far-side.log")


def bring_up(path: Path, report: Report) -> BringUp:
    """Bring the environment up; LabError becomes DemoError with the same advice."""
    going = BringUp(path, report)
    try:
        going.all()
    except LabError as error:
        raise DemoError(str(error), getattr(error, "fix", "")) from error
    return going


