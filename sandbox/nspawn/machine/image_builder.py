"""Builder of node images with the roles that configure hosts: the lab's counterpart of building an AMI.

It boots a node from the base image, runs a playbook against it, and makes an image of its changes. The image's id is
the hash of all sources: for unchanged sources the existing image is used.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from landbridge.environment import Environment
from landbridge.node_image import roles_used
from landbridge.plan.ansible.inventory import inventory
from sandbox.fast_ansible import fast_ansible_variables
from sandbox.hardware.install import install
from sandbox.nspawn.errors import LabError
from sandbox.nspawn.from_environment import site_range
from sandbox.nspawn.host import shell
from sandbox.nspawn.layout import CHECKOUT, Layout
from sandbox.nspawn.locks import locked
from sandbox.nspawn.machine import image, nodes
from sandbox.nspawn.machine.node import LabNode
from sandbox.nspawn.network import netns
from sandbox.nspawn.network.bridges import LabInterface
from sandbox.nspawn.progress import Report, silent, step
from sandbox.nspawn.site import ONPREM, operator_address

BUILDER = "image-builder"
CLOUD_PLAYBOOK = Path("ansible/playbooks/node_image.yml")
# The builder's address on the on-prem segment, counted back from the broadcast address, where no host is.
_FROM_THE_END = 5


@dataclass(frozen=True)
class BuildOptions:
    """Variables of the roles besides the environment's, and parts of the machine that packages do not contain.

    `script` runs on the builder before the playbook. `platform`: the image gets this hardware's stand-ins after it,
    because a builder has no GPUs; `tmpfiles`: lines of tmpfiles.d for each boot of a node.
    """

    variables: Mapping[str, Any] = field(default_factory=dict)
    script: str = ""
    platform: str = ""
    tmpfiles: str = ""


_NONE = BuildOptions()


def build(lab: Layout, environment: Environment, ami: str, report: Report = silent) -> bool:
    """Build the environment's cloud node image, tagged with the id of its AMI; return true if it was built now."""
    return bake(lab, environment, ami, CLOUD_PLAYBOOK, report)


def bake(
    lab: Layout,
    environment: Environment,
    tag: str,
    playbook: Path,
    report: Report = silent,
    options: BuildOptions = _NONE,
) -> bool:
    """Build the image that `playbook` makes of the base image, and tag it `tag`; return true if it was built now.

    The lab's network must be up. The playbook's only host is `image-builder`, with the variables of all hosts of the
    environment; it must not enable a service that nodes of the image should not start at boot.
    """
    base = image.need(lab, "base")
    options = replace(options, variables={**inventory(environment)["all"]["vars"], **options.variables})
    image_id = f"node-{_digest(playbook, options, base.id)}"
    with locked(lab.images / "locks" / tag):
        if image.find(lab, image_id) is not None:
            image.tag(lab, tag, image_id)
            return False
        with step(report, f"building image {tag}"):
            _build(lab, environment, image_id, tag, playbook, options, report)
    return True


def machine(environment: Environment, name: str, image_id: str = "base") -> LabNode:
    """Return a machine on the on-prem segment that changes an image; one at a time."""
    segment = site_range(environment)
    address = str(segment.broadcast_address - _FROM_THE_END)
    operator = operator_address(segment)
    return LabNode(
        name,
        (LabInterface(ONPREM, (f"{address}/{segment.prefixlen}",)),),
        (f"default via {operator}",),
        image=image_id,
        operator=operator,
    )


def _digest(playbook: Path, options: BuildOptions, base: str) -> str:
    roles = roles_used(CHECKOUT / playbook, CHECKOUT / "ansible/roles")
    locks = sorted((CHECKOUT / "examples").glob("*/requirements*.lock"))
    # Options that are not set change no id: images of earlier builds stay valid.
    parts = [base, options.variables, *([asdict(options)] if options.script or options.platform else [])]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode())
    for path in _files([CHECKOUT / playbook, *roles, *locks]):
        digest.update(f"{path.relative_to(CHECKOUT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _files(paths: Iterable[Path]) -> list[Path]:
    """Return all files in a fixed order, without documentation, which changes no image."""
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*"))]
    return sorted(file for file in files if file.is_file() and file.suffix not in (".md", ".pyc"))


def _build(
    lab: Layout,
    environment: Environment,
    image_id: str,
    tag: str,
    playbook: Path,
    options: BuildOptions,
    report: Report,
) -> None:
    builder = machine(environment, BUILDER)
    nodes.destroy(lab, BUILDER)
    try:
        nodes.create(lab, builder)
        nodes.boot(lab, BUILDER)
        nodes.wait_ssh(lab, [BUILDER])
        if options.script:
            completed = nodes.exec(lab, BUILDER, [options.script], timeout=600)
            if completed.returncode != 0:
                raise LabError(f"the builder's script failed:\n{completed.stdout}{completed.stderr}")
        run_playbook(lab, playbook, {BUILDER: builder.address}, options.variables, report, fast=False)
        if options.platform:
            nodes.stop(lab, BUILDER)
            upper = lab.node(BUILDER) / "upper"
            install(upper, BUILDER, options.platform, with_driver=False)
            (upper / "etc/tmpfiles.d/lab-driver.conf").write_text(options.tmpfiles)
        nodes.commit(lab, BUILDER, image_id, tags=[tag])
    finally:
        nodes.destroy(lab, BUILDER)


def run_playbook(
    lab: Layout,
    playbook: Path,
    hosts: Mapping[str, str],
    variables: Mapping[str, Any],
    report: Callable[[str], None] = silent,
    *,
    fast: bool = True,
) -> None:
    """Run a playbook of this checkout against lab nodes (name -> address); raise LabError with the failed tasks.

    `fast`: with Mitogen, if installed.
    """
    folder = lab.state / "ansible"
    folder.mkdir(parents=True, exist_ok=True)
    common = {
        **variables,
        "ansible_user": "root",
        "ansible_python_interpreter": "/usr/bin/python3",
        "ansible_ssh_private_key_file": str(lab.private_key),
        "ansible_ssh_common_args": " ".join(_ssh_options()),
        # Builders of two labs have the same address. Not in the folder of states: paths of sockets have 107 characters at most.
        "ansible_control_path_dir": f"~/.ansible/cp/{lab.name}",
    }
    inventory_hosts = {name: {"ansible_host": address} for name, address in hosts.items()}
    inventory_path = folder / f"{playbook.stem}.json"
    inventory_path.write_text(json.dumps({"all": {"hosts": inventory_hosts, "vars": common}}, default=str))
    program = Path(sys.executable).with_name("ansible-playbook")
    if not program.exists():
        raise LabError(f"{program} is missing", "set the checkout up with `make demo` or `make test`")
    config = CHECKOUT / "ansible.cfg"
    completed = shell.run(
        # Started inside the lab's network: a proxy command would cost a process per connection.
        [*("nsenter", f"--net={netns.FOLDER / lab.netns}"), program, "--inventory", inventory_path, playbook],
        cwd=CHECKOUT,
        env={
            **os.environ,
            **(fast_ansible_variables() if fast else {}),
            "ANSIBLE_CONFIG": str(config),
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_ROLES_PATH": str(CHECKOUT / "ansible/roles"),
        },
        timeout=1800,
        check=False,
    )
    log = folder / f"{playbook.stem}.log"
    log.write_text(completed.stdout + completed.stderr)
    if completed.returncode != 0:
        message = "\n  ".join(_failure(completed.stdout.splitlines()) or [completed.stderr.strip()[-1500:]])
        raise LabError(f"{playbook} failed:\n  {message}", f"its whole output is {log}")
    report(next((line for line in reversed(completed.stdout.splitlines()) if "changed=" in line), ""))


def _failure(lines: list[str]) -> list[str]:
    """Return the failed task's name and at most 12 lines of its output; empty without a failure."""
    first = next((index for index, line in enumerate(lines) if line.startswith(("fatal:", "failed:"))), None)
    if first is None:
        return []
    task = next((line for line in reversed(lines[:first]) if line.startswith("TASK")), "")
    return [task.rstrip("* "), *lines[first : first + 12]]


def _ssh_options() -> list[str]:
    settings = ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR")
    return ["-F none", *(f"-o {setting}" for setting in settings)]
