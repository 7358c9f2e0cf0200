"""Slurm's scontrol, on this machine or on the environment's first controller."""

import json
import shlex
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from landbridge import paths
from landbridge.environment import Environment
from landbridge.ops.host_access import forced_command
from landbridge.plan.network.host_role import hosts
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.site.ssh_access import proxy_command, ssh_target

#: Runs scontrol with arguments and returns its output. Raises ScontrolError.
Scontrol = Callable[[Sequence[str]], str]
_TIMEOUT_SECONDS = 60


class ScontrolError(Exception):
    """scontrol that could not be run or that failed; the message is its own."""


def local(words: Sequence[str]) -> str:
    """Run scontrol on this machine."""
    return _run(["scontrol", *words])


def over_ssh(environment: Environment, program: str = "scontrol") -> Scontrol:
    """Return a function that runs scontrol, or another program of Slurm, on the first controller that answers, over ssh
    by the environment's `access`; with sudo for a user other than root.
    """
    if forced_command() is not None:
        # The site's timers run on the first controller.
        return lambda words: _run([program, *words])
    prefixes = [ssh(environment, name) for name in service_hosts(environment).controllers]
    privileged = [] if service_hosts(environment).access.user == "root" else ["sudo", "--non-interactive"]

    def run(words: Sequence[str]) -> str:
        command = shlex.join([*privileged, program, *words])
        for prefix in prefixes[:-1]:
            try:
                return _run([*prefix, command])
            except ScontrolError as error:
                # The exit status of ssh itself: the host did not answer, and no command was run there.
                if error.args[1:] != (255,):
                    raise
        return _run([*prefixes[-1], command])

    return run


def show_nodes(scontrol: Scontrol, names: str | None = None) -> dict[str, Any]:
    """Return the output of `scontrol show nodes --json`. Raises ScontrolError."""
    text = scontrol(["show", "nodes", *([names] if names else []), "--json"])
    try:
        return dict(json.loads(text))
    except ValueError:
        raise ScontrolError(f"scontrol did not answer in JSON: {text[:200]}") from None


def ssh(environment: Environment, name: str) -> list[str]:
    """Return the ssh command line to a host of the environment, by its `access`; the remote command is appended to it."""
    file = paths.outputs_file(environment.name)
    outputs = StackOutputs.model_validate_json(file.read_text()) if file.exists() else None
    host = next(host for host in hosts(environment) if host.name == name)
    return ssh_to(environment, f"{service_hosts(environment).access.user}@{ssh_target(environment, host, outputs)}")


def known_hosts(environment: Environment) -> Path:
    """Return the file of host keys, by the environment's `access`; it exists after the first connection to a host."""
    configured = service_hosts(environment).access.known_hosts
    return Path(paths.expand(configured)) if configured else paths.state_dir(environment.name) / "known_hosts"


def ssh_to(environment: Environment, destination: str) -> list[str]:
    """Return the ssh command line to `user@address`, by the environment's `access`."""
    access, proxy = service_hosts(environment).access, proxy_command(environment)
    settings = [f"UserKnownHostsFile={known_hosts(environment)}", "StrictHostKeyChecking=accept-new", "BatchMode=yes"]
    settings += ["LogLevel=ERROR", "ConnectTimeout=10", *([f"ProxyCommand={proxy}"] if proxy else [])]
    words = ["ssh", "-p", str(access.port), *(word for setting in settings for word in ("-o", setting))]
    if access.private_key:
        words += ["-i", str(paths.expand(access.private_key))]
    return [*words, "--", destination]


def _run(command: Sequence[str]) -> str:
    try:
        completed = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False
        )
    except FileNotFoundError:
        raise ScontrolError(f"{command[0]} is not on this machine: name the environment with -s") from None
    except subprocess.TimeoutExpired:
        raise ScontrolError(f"{command[0]} did not end within {_TIMEOUT_SECONDS} s") from None
    if completed.returncode != 0:
        raise ScontrolError((completed.stderr or completed.stdout).strip()[:500], completed.returncode)
    return completed.stdout
