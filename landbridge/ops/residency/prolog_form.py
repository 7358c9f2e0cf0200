"""Prolog of nodes in AWS, read from the rendered slurm.conf: the accounts whose jobs landbridge-job refuses there."""

from dataclasses import dataclass

from landbridge.environment import Environment
from landbridge.plan.slurm.files import slurm_conf
from landbridge.plan.slurm.jobs.job_classes import NO_ROLE
from landbridge.plan.slurm.jobs.prolog_epilog import PROGRAM
from landbridge.plan.slurm.nodes import cloud_nodes, onprem_nodes


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
