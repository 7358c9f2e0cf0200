"""Words of jobs of restricted classes: names, comments, commands and folders, from Slurm's answers. Pure."""

from collections.abc import Iterable

from landbridge.environment import Environment

#: Separator of fields that is in no job's name: the unit separator of ASCII.
SEPARATOR = "\x1f"
#: Words that every job may have, of which none says anything about its data.
_COMMON = frozenset({"sbatch", "srun", "salloc", "bash", "(null)", "None", "interactive", "wrap"})


def restricted_accounts(environment: Environment) -> tuple[str, ...]:
    """Return the accounts whose class may be at one site only, has a regime, or is not known."""
    restricted = []
    for name, account in sorted(environment.scheduler.accounts.items()):
        data_class = environment.data_classes.get(account.data_class)
        if data_class is None or data_class.regime is not None or len(set(data_class.sites)) < 2:
            restricted.append(name)
    return tuple(restricted)


def job_programs(accounts: Iterable[str], since: str) -> dict[str, list[str]]:
    """Return the programs of the controller that list the jobs of accounts since a time, with their words."""
    names = ",".join(accounts)
    sacct = ["sacct", "--allusers", f"--accounts={names}", f"--starttime={since}", "--noheader", "--parsable2"]
    squeue = ["squeue", f"--accounts={names}", "--noheader", f"--format={SEPARATOR.join(('%j', '%k', '%o', '%Z'))}"]
    fields = "JobName,Comment,AdminComment,SystemComment,SubmitLine,WorkDir"
    return {"restricted jobs": [*sacct, f"--delimiter={SEPARATOR}", f"--format={fields}"], "restricted queue": squeue}


def words_of(text: str) -> frozenset[str]:
    """Return the words of jobs from lines of fields: each field, each word of it, and each value of an option."""
    words: set[str] = set()
    for line in text.splitlines():
        for field in line.split(SEPARATOR):
            parts = field.split()
            words |= {field.strip(), *parts, *(part.partition("=")[2] for part in parts)}
    return frozenset(word for word in words if word and not word.startswith("-") and word not in _COMMON)
