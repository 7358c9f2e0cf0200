"""Tables of job_submit.lua, read from the rendered script. test_agreement.py compares the answers with real Lua."""

import re
from dataclasses import dataclass

from landbridge.environment import Environment
from landbridge.plan.slurm.jobs.job_submit import has_job_submit, job_submit_lua
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
