"""Rules over a whole definition: order of steps, gates, options; and over the environment of its account."""

from collections.abc import Iterator, Mapping

from landbridge.environment import Environment
from landbridge.findings import Finding, did_you_mean
from landbridge.pipelines.definition.model import PipelineDefinition, PipelineStep

#: Options of sbatch that the service sets, and those with which a step would not be one job of its owner.
_SET = ("job-name", "comment", "account", "parsable", "chdir", "export", "export-file", "uid", "gid", "clusters")
_REFUSED = ("array", "wrap", "wait", "hold", "test-only", "dependency", "input", "bbf", "hetjob")
_SHORT = {"J": "job-name", "A": "account", "D": "chdir", "a": "array", "W": "wait", "H": "hold", "d": "dependency"} | {
    "i": "input",
    "M": "clusters",
}


def definition_findings(definition: PipelineDefinition) -> Iterator[Finding]:
    """Yield the findings of a definition that has the right form."""
    yield from _names(definition)
    yield from _needs(definition)
    for index, step in enumerate(definition.steps):
        yield from _options(index, step)
        yield from _gates(index, step)


def environment_findings(definition: PipelineDefinition, environment: Environment) -> Iterator[Finding]:
    """Yield the findings of a definition against the accounts, users and data classes of an environment."""
    accounts = environment.scheduler.accounts
    account = accounts.get(definition.account)
    if account is None:
        near = did_you_mean(definition.account, accounts)
        fix = f'did you mean "{near}"?' if near else f"known: {', '.join(sorted(accounts))}"
        yield Finding("pipeline-account", f'there is no account "{definition.account}"', ("account",), fix)
        return
    if account.data_class != definition.data_class:
        message = (
            f"the account {definition.account} has data of class {account.data_class}, not {definition.data_class}"
        )
        yield Finding("pipeline-data-class", message, ("data_class",), f"write {account.data_class}")
    if definition.owner not in account.users:
        message = f"the owner {definition.owner} is not a user of account {definition.account}"
        yield Finding("pipeline-owner", message, ("owner",), f"its users: {', '.join(account.users) or 'none'}")


def script_findings(definition: PipelineDefinition, scripts: Mapping[str, str | None]) -> Iterator[Finding]:
    """Yield the findings of the steps' scripts, by step; None: the file cannot be read."""
    for index, step in enumerate(definition.steps):
        text, path = scripts.get(step.name), ("steps", index, "script")
        if text is None:
            yield Finding("pipeline-script", f"{step.script} cannot be read", path, "it is relative to the repository")
            continue
        if not text.startswith("#!"):
            yield Finding("pipeline-script", f"{step.script} does not begin with #!", path, "begin with #!/bin/bash")
        for line in text.splitlines():
            words = line.split()
            if not words or words[0] != "#SBATCH":
                continue
            given = [word if word == "hetjob" else _option(word) for word in words[1:]]
            for option in filter(None, given):
                if option in _REFUSED:
                    message = f"{step.script} has #SBATCH --{option}: a step is one job, which the service starts"
                    yield Finding("pipeline-option", message, path, "remove the line")


def _names(definition: PipelineDefinition) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, step in enumerate(definition.steps):
        if step.name in seen:
            path = ("steps", index, "name")
            yield Finding("pipeline-step", f'there is already a step "{step.name}"', path, "give it another name")
        seen.add(step.name)


def _needs(definition: PipelineDefinition) -> Iterator[Finding]:
    names = {step.name for step in definition.steps}
    for index, step in enumerate(definition.steps):
        for position, need in enumerate(step.needs):
            if need not in names:
                near = did_you_mean(need, names)
                fix = f'did you mean "{near}"?' if near else f"known: {', '.join(sorted(names))}"
                yield Finding("pipeline-needs", f'there is no step "{need}"', ("steps", index, "needs", position), fix)
    # Remove steps without open needs until none is left; the rest is in a cycle or behind one.
    left = {step.name: {need for need in step.needs if need in names} for step in definition.steps}
    while free := [name for name, needs in left.items() if not needs & left.keys()]:
        for name in free:
            del left[name]
    for index, step in enumerate(definition.steps):
        if step.name in left:
            message = f"the step {step.name} needs itself through {', '.join(sorted(left))}"
            yield Finding("pipeline-cycle", message, ("steps", index, "needs"), "remove one of the needs")


def _options(index: int, step: PipelineStep) -> Iterator[Finding]:
    for position, word in enumerate(step.options):
        path = ("steps", index, "options", position)
        if not word.startswith("-") or word.strip("-") == "":
            fix = "write an option with its value in one item: --partition=gpu"
            yield Finding("pipeline-option", f'"{word}" is not an option of sbatch', path, fix)
            continue
        option = _option(word)
        if option in _SET:
            yield Finding("pipeline-option", f"the service sets --{option}", path, "remove it")
        elif option in _REFUSED:
            yield Finding("pipeline-option", f"a step cannot have --{option}: it is one job", path, "remove it")


def _option(word: str) -> str | None:
    """Return the long name of an option without its value; None if the word is not one."""
    if word.startswith("--"):
        name = word[2:].partition("=")[0]
        # getopt accepts every unambiguous prefix of a name.
        return next((known for known in (*_SET, *_REFUSED) if len(name) >= 3 and known.startswith(name)), name)
    return _SHORT.get(word[1:2]) if word.startswith("-") else None


def _gates(index: int, step: PipelineStep) -> Iterator[Finding]:
    for position, gate in enumerate(step.gates):
        path = ("steps", index, "gates", position)
        given = [name for name in ("at_least", "at_most", "champion") if getattr(gate, name) is not None]
        if len(given) != 1:
            message = f"the gate on {gate.metric} has {', '.join(given) or 'no bound'}; one is needed"
            yield Finding("pipeline-gate", message, path, "choose one of at_least, at_most, champion")
        if step.metrics is None:
            message = f"the gate on {gate.metric} has no measurement"
            yield Finding("pipeline-gate", message, path, f"add metrics: to the step {step.name}")
