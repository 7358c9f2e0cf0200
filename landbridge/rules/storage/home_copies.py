"""Rules about copies of the home directories (storage.home.copies)."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error
from landbridge.rules.environment_paths import suggestion
from landbridge.rules.registry import rule

_COPIES: DataPath = ("storage", "home", "copies")


@rule
def home_copies_place(environment: Environment) -> Iterator[Finding]:
    """Copies of homes have one place: the bucket of a class, or a repository.

    Source: Landbridge (docs/explanation/recovery.md).
    """
    copies = environment.storage.home_copies
    if copies is not None and (copies.data_class is None) == (copies.repository is None):
        message = "copies of homes need a place" if copies.data_class is None else "copies of homes have two places"
        yield error(_COPIES, message, fix="write either data_class or repository")


@rule(suppressible=False)
def home_copies_residency(environment: Environment) -> Iterator[Finding]:
    """Homes are copied into AWS only if every class whose jobs read and write them may be there.

    Homes have no data class: a user of an account with a class that must stay on-prem may have its data in the home.
    Source: Landbridge (docs/explanation/recovery.md).
    """
    copies = environment.storage.home_copies
    if copies is None or copies.data_class is None:
        return
    path: DataPath = (*_COPIES, "data_class")
    known = environment.data_classes
    if copies.data_class not in known:
        message, fix = f'unknown data class "{copies.data_class}"', suggestion(copies.data_class, known)
        yield error(path, message, fix=fix, related=(("data_classes",),))
        return
    for name in (copies.data_class, *(account.data_class for account in environment.scheduler.accounts.values())):
        if name in known and "aws" not in known[name].sites:
            message = f"homes may hold data of class {name}, which may be at {', '.join(known[name].sites)} only"
            fix = "write a repository at another place on-prem instead of data_class"
            yield error(path, message, fix=fix, related=(("data_classes", name, "sites"),))
            return
