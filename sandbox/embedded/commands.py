"""`scontrol`, `sinfo` and `squeue` of the simulated Slurm: small programs that query it through a unix socket."""

import json
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from landbridge.hostlist import HostlistError, compress, expand

_CLIENT = """#!{python} -ISE
import json, os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect({socket!r})
s.sendall(json.dumps({{"command": os.path.basename(sys.argv[0]), "arguments": sys.argv[1:]}}).encode() + b"\\n")
answer = json.loads(s.makefile().readline())
sys.stdout.write(answer["stdout"])
sys.stderr.write(answer["stderr"])
sys.exit(answer["rc"])
"""
NAMES = ("scontrol", "sinfo", "squeue")
#: Settings of slurm.conf with the programs of the burst controller, by their file names.
PROGRAMS = {
    "ResumeProgram": "landbridge-resume",
    "SuspendProgram": "landbridge-suspend",
    "ResumeFailProgram": "landbridge-resume-fail",
}
Answer = dict[str, Any]


def install(folder: Path, socket: Path) -> None:
    """Write the programs into `folder`, which then belongs in PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        path = folder / name
        path.write_text(_CLIENT.format(python=sys.executable, socket=str(socket)))
        path.chmod(0o755)
    for name in PROGRAMS.values():
        kind = name.removeprefix("landbridge-")
        path = folder / name
        path.write_text(f'#!/bin/sh\nexec {sys.executable} -m landbridge.burst.hooks.programs {kind} "$@"\n')
        path.chmod(0o755)


class CommandError(Exception):
    """Error message of a command that exits with 1."""


class Commands:
    """Implementation of the commands for the controller `slurm`, whose lock the caller holds."""

    def __init__(self, slurm: Any) -> None:
        self._slurm = slurm

    def answer(self, command: str, arguments: Sequence[str]) -> Answer:
        words = [word for word in arguments if not word.startswith("-")]
        options = [word for word in arguments if word.startswith("-")]
        try:
            return {"rc": 0, "stdout": self._dispatch(command, words, options), "stderr": ""}
        except (CommandError, HostlistError) as error:
            return {"rc": 1, "stdout": "", "stderr": f"{command}: error: {error}\n"}

    def _dispatch(self, command: str, words: list[str], options: list[str]) -> str:
        if command == "squeue":
            return self._squeue(options)
        if command == "sinfo":
            return self._sinfo(options)
        verb = words[0] if words else ""
        verbs: dict[str, Callable[[list[str], list[str]], str]] = {
            "ping": self._ping,
            "show": self._show,
            "update": self._update,
            "release": self._release,
            "requeue": self._requeue,
        }
        if verb not in verbs:
            raise CommandError(f"the simulated Slurm has no '{verb}'")
        return verbs[verb](words[1:], options)

    def _squeue(self, options: list[str]) -> str:
        ids = {int(word) for word in _option(options, "jobs").split(",") if word.isdigit()}
        states = set(_option(options, "states").upper().split(",")) - {""}
        nodes = set(expand(chosen)) if (chosen := _option(options, "nodelist")) else set()
        return "".join(
            _line(_option(options, "Format"), job.fields())
            for job in self._slurm.jobs.values()
            if not job.finished
            and (not ids or job.id in ids)
            and (not states or job.state in states)
            and (not nodes or nodes & set(job.nodes))
        )

    def _sinfo(self, options: list[str]) -> str:
        nodes = [self._node(name) for name in expand(chosen)] if (chosen := _option(options, "nodes")) else None
        groups: dict[str, list[str]] = {}
        for node in self._slurm.nodes.values() if nodes is None else nodes:
            groups.setdefault("+".join([node.state, *sorted(node.flags)]).lower(), []).append(node.name)
        form = _option(options, "Format")
        return "".join(
            _line(form, {"nodelist": compress(names), "statecomplete": state}) for state, names in groups.items()
        )

    def _ping(self, _: list[str], options: list[str]) -> str:
        _json_only(options)
        controller = {
            "hostname": socket.gethostname(),
            "pinged": "UP",
            "responding": True,
            "mode": "primary",
            "primary": True,
        }
        return json.dumps({"pings": [controller], "errors": [], "warnings": []}) + "\n"

    def _show(self, words: list[str], options: list[str]) -> str:
        entity, names = (words[0] if words else ""), words[1:]
        if entity in ("hostnames", "hostname"):
            return "".join(f"{host}\n" for host in expand(names[0]))
        if entity == "hostlist":
            return compress(names[0].split(",")) + "\n"
        if entity == "config":
            return self._config()
        _json_only(options)
        if entity in ("node", "nodes"):
            chosen = expand(names[0]) if names else list(self._slurm.nodes)
            return json.dumps({"nodes": [self._node(name).show() for name in chosen], "errors": []}) + "\n"
        if entity in ("job", "jobs"):
            jobs = [job for job in self._slurm.jobs.values() if not names or str(job.id) in names]
            if names and not jobs:
                raise CommandError("Invalid job id specified")
            return json.dumps({"jobs": [job.show() for job in jobs], "errors": []}) + "\n"
        raise CommandError(f"the simulated Slurm cannot show '{entity}'")

    def _config(self) -> str:
        """Return the settings that the burst controller reads."""
        programs = {key: self._slurm.directory / "bin" / name for key, name in PROGRAMS.items()}
        settings = {**programs, "SuspendExcNodes": self._slurm.suspend_exc_nodes or "(null)"}
        return "".join(f"{key:23} = {value}\n" for key, value in settings.items())

    def _update(self, words: list[str], _: list[str]) -> str:
        fields = {key.lower(): value for key, _, value in (word.partition("=") for word in words)}
        if "jobid" in fields:
            return self._update_job(fields)
        if "suspendexcnodes" in fields:
            self._slurm.suspend_exc_nodes = fields["suspendexcnodes"]
            return ""
        if "nodename" not in fields:
            raise CommandError("the simulated Slurm updates nodes and jobs only")
        nodes = [self._node(name) for name in expand(fields.pop("nodename"))]
        addresses, state, reason = (fields.pop(key, "") for key in ("nodeaddr", "state", "reason"))
        if fields:
            raise CommandError(f"unknown: {', '.join(fields)}")
        if addresses and len(addresses.split(",")) != len(nodes):
            raise CommandError("as many addresses as nodes are needed")
        for node, address in zip(nodes, addresses.split(",") if addresses else [], strict=False):
            node.address = address
        actions = {
            "down": self._slurm.node_down,
            "power_down_force": self._slurm.power_down_force,
            "power_down_asap": self._slurm.power_down_asap,
            "resume": self._slurm.node_resume,
        }
        if state:
            if state.lower() not in actions:
                raise CommandError(f"the simulated Slurm has no state '{state}'")
            for node in nodes:
                actions[state.lower()](node, reason)
        return ""

    def _requeue(self, words: list[str], _: list[str]) -> str:
        errors = []
        for number in words[0].split(","):
            job = self._slurm.jobs.get(int(number)) if number.isdigit() else None
            if job is None or not self._slurm.job_requeue(job):
                errors.append(f"Invalid job id specified for job {number}")
        if errors:
            raise CommandError("\n".join(errors))
        return ""

    def _update_job(self, fields: dict[str, str]) -> str:
        known = {"comment", "admincomment", "partition", "starttime"}
        numbers = fields.pop("jobid").split(",")
        if unknown := fields.keys() - known:
            raise CommandError(f"unknown: {', '.join(sorted(unknown))}")
        errors = []
        for number in numbers:
            job = self._slurm.jobs.get(int(number)) if number.isdigit() else None
            if job is None:
                errors.append(f"Invalid job id specified for job {number}")
                continue
            job.comment = fields.get("comment", job.comment)
            job.admin_comment = fields.get("admincomment", job.admin_comment)
            job.partition = fields.get("partition", job.partition)
            if start := fields.get("starttime", ""):
                job.eligible = 0.0 if start == "now" else time.mktime(time.strptime(start, "%Y-%m-%dT%H:%M:%S"))
        if errors:
            raise CommandError("\n".join(errors))
        return ""

    def _release(self, words: list[str], _: list[str]) -> str:
        for word in words:
            job = self._slurm.jobs.get(int(word)) if word.isdigit() else None
            if job is None:
                raise CommandError(f"Invalid job id specified for job {word}")
            job.held = False
        return ""

    def _node(self, name: str) -> Any:
        if name not in self._slurm.nodes:
            raise CommandError(f"Invalid node name specified: {name}")
        return self._slurm.nodes[name]


def _option(options: list[str], name: str) -> str:
    return next((option.partition("=")[2] for option in options if option.startswith(f"--{name}=")), "")


def _line(form: str, values: Mapping[str, str]) -> str:
    """Return a line by a value of --Format: FIELD:0TEXT,FIELD:0TEXT with the text behind each field."""
    if not form:
        raise CommandError("the simulated Slurm needs --Format")
    fields = (word.partition(":0") for word in form.split(","))
    return "".join(values[name.lower()] + text for name, _, text in fields) + "\n"


def _json_only(options: list[str]) -> None:
    if "--json" not in options:
        raise CommandError("the simulated Slurm answers in JSON only: add --json")
