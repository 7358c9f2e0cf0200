"""Steps that remain after users were removed from an environment file, in their order. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from landbridge.environment import Environment

PAGE = "docs/how-to/when-a-person-leaves.md"


@dataclass(frozen=True, slots=True)
class LeavingStep:
    """Step of an operator: `command` does it, or is the page that explains it."""

    message: str
    command: str


def leaving_steps(environment: Environment, names: Sequence[str], file: str, option: str) -> Iterator[LeavingStep]:
    """Yield the steps. `option` selects the environment in a command, as `-s acme`; `file` is its file."""
    yield LeavingStep(
        "end their jobs, on a login host: Slurm deletes no user who has jobs",
        " && ".join(f"scancel --user={name}" for name in names),
    )
    accounts = ", and the accounts in Slurm and MLflow"
    if environment.existing_slurm is not None:
        accounts = ""
        yield LeavingStep(
            "delete them in your Slurm, which Landbridge does not configure", f"sacctmgr delete user {','.join(names)}"
        )
    yield LeavingStep("see which logins end", f"landbridge configure {option} --check")
    yield LeavingStep(
        f"on every host, end login, sessions, cron jobs and services{accounts}", f"landbridge configure {option}"
    )
    yield LeavingStep("see that no service host still has a login of theirs", f"landbridge status {option}")
    images = [name for name, source in environment.aws.images.items() if source.build is not None]
    if images:
        builds = " && ".join(f"landbridge image build {name} {option}" for name in images)
        yield LeavingStep("remove the accounts from the images of nodes in AWS", f"landbridge up {option} && {builds}")
    if environment.scheduler.rest is not None:
        yield LeavingStep(
            "if they created tokens for Slurm's REST API: end everybody's, as each is valid until its own end",
            f"ansible-playbook -i {file} ansible/playbooks/rotate_jwt_key.yml",
        )
    if environment.hosts.directory is not None:
        yield LeavingStep("lock their entries in the LDAP directory, if they have any", PAGE)
    yield LeavingStep("if they were operators or signed models: renew the secrets that they have read", PAGE)
