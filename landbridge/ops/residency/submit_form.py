"""Answers of job_submit.lua and of the Prolog of nodes in AWS, read from the rendered files. test_agreement.py compares
the answers of job_submit.lua with real Lua.
"""

import re
from dataclasses import dataclass

from landbridge.environment import Environment
from landbridge.plan.slurm.files import slurm_conf
from landbridge.plan.slurm.jobs.job_classes import NO_ROLE
from landbridge.plan.slurm.jobs.job_submit import has_job_submit, job_submit_lua
from landbridge.plan.slurm.jobs.prolog_epilog import PROGRAM
from landbridge.plan.slurm.nodes import cloud_nodes, onprem_nodes

_OPERATORS = re.compile(r'^local OPERATORS = "([^"]*)"$', re.MULTILINE)
_TABLE = r"^local {name} = \{{\n(.*?)^\}}$"
_ROW = re.compile(r'^  \["([^"]+)"\] = \{(.*)\},$', re.MULTILINE)
_SITES = re.compile(r"\bsites = \{([^}]*)\}")
_SITE = re.compile(r"(\w+) = true")


@dataclass(frozen=True, slots=True)
class SubmitForm:
    """Operators' account, sites of each partition, and permitted sites of each account, as the script has them."""

    operators: frozenset[str]
    partitions: dict[str, frozenset[str]]
    accounts: dict[str, frozenset[str]]

    def admits(self, account: str, partition: str) -> bool:
        """Return whether the script accepts a job of an account for a partition. Workload classes only restrict further."""
        if account in self.operators:
            return True
        sites, permitted = self.partitions.get(partition, frozenset({"aws"})), self.accounts.get(account)
        return "aws" not in sites if permitted is None else sites <= permitted


def submit_form(environment: Environment) -> SubmitForm | None:
    """Return the tables of an environment's script; None if Landbridge installs none."""
    if not has_job_submit(environment) or environment.existing_slurm is not None:
        return None
    text = job_submit_lua(environment, (*onprem_nodes(environment), *cloud_nodes(environment)))
    partitions = {name: frozenset(_SITE.findall(body)) for name, body in _rows(text, "PARTITIONS").items()}
    accounts = {
        name: frozenset(_SITE.findall(sites[1])) if (sites := _SITES.search(body)) is not None else frozenset[str]()
        for name, body in _rows(text, "ACCOUNTS").items()
    }
    return SubmitForm(frozenset(_OPERATORS.findall(text)), partitions, accounts)


def _rows(text: str, table: str) -> dict[str, str]:
    body = re.search(_TABLE.format(name=table), text, re.MULTILINE | re.DOTALL)
    return dict(_ROW.findall(body[1])) if body is not None else {}


@dataclass(frozen=True, slots=True)
class PrologForm:
    """Program that slurmd runs before a job, data class of each account, and the classes with a role in AWS."""

    program: str
    accounts: dict[str, str]
    with_role: frozenset[str]

    @property
    def is_own(self) -> bool:
        """Return whether the Prolog is Landbridge's; another one refuses no job."""
        return self.program == PROGRAM

    def admits(self, account: str) -> bool:
        """Return whether a node in AWS starts jobs of an account."""
        return not self.is_own or self.accounts.get(account.lower()) in self.with_role


def prolog_form(environment: Environment) -> PrologForm | None:
    """Return the Prolog of nodes in AWS; None if slurm.conf is the site's own, or there are no accounts."""
    if environment.existing_slurm is not None or not environment.scheduler.accounts:
        return None
    program, accounts, with_role = "", {}, set()
    for line in slurm_conf(environment, (*onprem_nodes(environment), *cloud_nodes(environment))).splitlines():
        match line.split():
            case ["#", "landbridge-account", account, data_class]:
                accounts[account] = data_class
            case ["#", "landbridge-class", data_class, role] if role != NO_ROLE:
                with_role.add(data_class)
            case _ if line.casefold().startswith("prolog="):
                program = line.partition("=")[2]
    return PrologForm(program, accounts, frozenset(with_role))
