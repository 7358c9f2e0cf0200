"""Rules about overrides of slurm.conf, cgroup.conf, partitions and nodes of pools."""

from collections.abc import Iterator, Mapping, Sequence

from landbridge.catalog.slurm.keys import slurm_keys
from landbridge.environment import Environment
from landbridge.environment.base import Scalar
from landbridge.findings import DataPath, Finding, Severity, did_you_mean, error, warning
from landbridge.rules.environment_paths import pools
from landbridge.rules.registry import rule

_CONF: DataPath = ("scheduler", "overrides", "slurm_conf")
_CGROUP: DataPath = ("scheduler", "overrides", "cgroup_conf")


@rule
def protected_setting(environment: Environment) -> Iterator[Finding]:
    """Overrides have no keys that Landbridge generates from other settings.

    Source: Landbridge: slurm.conf is generated from the environment only.
    """
    planned = slurm_keys().planned
    for key, source in _planned_keys(environment.scheduler.overrides.slurm_conf, planned.slurm_conf):
        yield error((*_CONF, key), f"{key} is generated from {source}", fix="remove it, or change that")
    for name, partition in environment.scheduler.partitions.items():
        for key, source in _planned_keys(partition.settings, planned.partition):
            yield error((*_settings(name), key), f"{key} is written as {source}", fix="write it there")
    for at in pools(environment):
        for key, source in _planned_keys(at.pool.slurm, planned.node):
            yield error(at.at("slurm", key), f"{key} is generated from {source}", fix="remove it, or change that")


@rule(suppressible=False)
def residency_setting(environment: Environment) -> Iterator[Finding]:
    """Overrides do not replace AllowAccounts and job_submit.lua, which keep restricted data on-prem.

    Without AllowAccounts, jobs with restricted data may run in AWS; without associations it is not enforced; without
    job_submit.lua a partition that an operator changes is not checked.
    Source: slurm.conf(5), AllowAccounts, AccountingStorageEnforce and JobSubmitPlugins; design, decision 6: restricted
    classes are denied in layers.
    """
    for name, partition in environment.scheduler.partitions.items():
        for key in partition.settings:
            if key.casefold() in ("allowaccounts", "denyaccounts", "allowgroups", "allowqos") and _restricted(
                environment
            ):
                message = f"{key} is generated from data_classes and accounts, and keeps restricted data on-prem"
                fix = "write the data_class of accounts"
                yield error((*_settings(name), key), message, fix=fix, related=(("data_classes", "*", "sites"),))
    for key, value in environment.scheduler.overrides.slurm_conf.items():
        if not environment.scheduler.accounts:
            continue
        if key.casefold() == "jobsubmitplugins" and "lua" not in str(value or "").casefold().split(","):
            message = "JobSubmitPlugins has no lua: without job_submit.lua, jobs with restricted data may run in AWS"
            yield error((*_CONF, key), message, fix="keep lua in it")
        if key.casefold() == "accountingstoragetype" and str(value).casefold() != "accounting_storage/slurmdbd":
            message = "without slurmdbd Slurm enforces no associations: users may submit to any account"
            yield error((*_CONF, key), message, fix="remove it")
        if key.casefold() != "accountingstorageenforce":
            continue
        if value is None or "associations" not in str(value).casefold():
            message = "AccountingStorageEnforce has no associations: users may submit to any account"
            yield error((*_CONF, key), message, fix="keep associations in it")


@rule
def slurm_key(environment: Environment) -> Iterator[Finding]:
    """A key exists in its file: with an unknown key, Slurm's daemons do not start.

    A warning if no known key is similar: it may be newer than the list.
    Source: slurm.conf(5) and cgroup.conf(5), as in landbridge/catalog/slurm_keys.yaml.
    """
    key_facts = slurm_keys()
    overrides = environment.scheduler.overrides
    yield from _unknown(overrides.slurm_conf, _CONF, "slurm.conf", key_facts.slurm_conf)
    yield from _unknown(overrides.cgroup_conf, _CGROUP, "cgroup.conf", key_facts.cgroup_conf)
    for name, partition in environment.scheduler.partitions.items():
        yield from _unknown(partition.settings, _settings(name), "a partition", key_facts.partition)
    for at in pools(environment):
        yield from _unknown(at.pool.slurm, at.at("slurm"), "a node", key_facts.node)


@rule
def slurm_value(environment: Environment) -> Iterator[Finding]:
    """A value is one line without a comment, and no key is repeated in another case.

    Source: slurm.conf(5): # begins a comment, and keys are not case sensitive.
    """
    for path, settings in _mappings(environment):
        seen: dict[str, str] = {}
        for key, value in settings.items():
            first = seen.setdefault(key.casefold(), key)
            if first != key:
                message = f"{key} and {first} are the same key"
                yield error((*path, key), message, fix="remove one", related=((*path, first),))
            if isinstance(value, str) and (not value.isprintable() or "#" in value):
                message = f"the value of {key} has a line break or a #, which begins a comment"
                yield error((*path, key), message)
            elif isinstance(value, str) and not value.strip():
                message = f"{key} has no value"
                yield error((*path, key), message, fix="write null to delete the key")


@rule
def slurm_choice(environment: Environment) -> Iterator[Finding]:
    """A key with a fixed set of values has one of them: with another, Slurm's daemons do not start.

    Source: slurm.conf(5) and cgroup.conf(5), as in landbridge/catalog/slurm_keys.yaml.
    """
    choices = {key.casefold(): words for key, words in slurm_keys().choices.items()}
    for path, key, value in _written(environment):
        words = choices.get(key.casefold())
        text = ("yes" if value else "no") if isinstance(value, bool) else str(value).casefold()
        text = {"true": "yes", "false": "no"}.get(text, text).partition(":")[0]
        if words is not None and value is not None and text not in words:
            near = did_you_mean(text, words)
            fix = f'did you mean "{near}"?' if near else f"one of {', '.join(words)}"
            yield error((*path, key), f'{key} cannot be "{value}"', fix=fix)


@rule
def slurm_risky_setting(environment: Environment) -> Iterator[Finding]:
    """Overrides do not change settings that have caused outages or data leaks. null deletes a key: Slurm's default is valid.

    Source: slurm.conf(5), cgroup.conf(5); Site-to-Site VPN User Guide, "Tunnel endpoint replacements".
    """
    for path, key, value in _written(environment):
        name, text = key.casefold(), str(value).casefold()
        message = None
        if name == "slurmctldparameters" and "enable_configless" not in text:
            message = "without enable_configless, nodes get no configuration"
        elif name == "cgroupplugin" and text.endswith("disabled"):
            message = "without cgroups, jobs see all GPUs and the memory of their node"
        elif name == "constraindevices" and text in ("false", "no", "none"):
            message = "without it, jobs see all GPUs of their node"
        elif name == "constrainramspace" and text in ("false", "no", "none"):
            message = "without it, a job can use the memory of other jobs"
        elif name == "slurmdtimeout" and isinstance(value, int) and 0 < value < 300 and environment.aws.pools:
            message = f"during a failover of the link nodes do not respond for minutes, and their jobs are cancelled after {value} s"
        elif name == "preemptmode" and ("suspend" in text or "gang" in text):
            message = "a suspended job keeps its GPU memory, so the next one has none"
        elif name == "returntoservice" and text == "2":
            message = "a node that crashed gets new jobs without a check"
        elif name == "proctracktype" and value is not None and "cgroup" not in text:
            message = "processes that leave their session continue to run after the job"
        if message is not None:
            yield warning((*path, key), f"{key}: {message}", fix="remove it")


@rule
def partition_named_default(environment: Environment) -> Iterator[Finding]:
    """No partition or pool is named default: Slurm reads such a line as defaults of all later lines.

    Source: slurm.conf(5): PartitionName=DEFAULT and NodeName=DEFAULT, in any case of letters.
    """
    message = "the name default is reserved by Slurm for the defaults of later lines"
    for name in environment.scheduler.partitions:
        if name == "default":
            yield error(("scheduler", "partitions", name), message, fix="choose another name")
    for index, pool in enumerate(environment.aws.pools):
        if pool.name == "default":
            yield error(("aws", "pools", index, "name"), message, fix="choose another name")


def _written(environment: Environment) -> Iterator[tuple[DataPath, str, Scalar | None]]:
    """Yield the path of the mapping, the key and the value of each override."""
    for path, settings in _mappings(environment):
        yield from ((path, key, value) for key, value in settings.items())


def _mappings(environment: Environment) -> Iterator[tuple[DataPath, Mapping[str, Scalar | None]]]:
    """Yield every mapping of Slurm's keys with its path."""
    scheduler = environment.scheduler
    yield _CONF, scheduler.overrides.slurm_conf
    yield _CGROUP, scheduler.overrides.cgroup_conf
    yield from ((_settings(name), partition.settings) for name, partition in scheduler.partitions.items())
    yield from ((at.at("slurm"), at.pool.slurm) for at in pools(environment))


def _planned_keys(settings: Mapping[str, Scalar | None], planned: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the keys that Landbridge generates, each with the setting that it is generated from."""
    sources = {key.casefold(): source for key, source in planned.items()}
    yield from ((key, sources[key.casefold()]) for key in settings if key.casefold() in sources)


def _unknown(
    settings: Mapping[str, Scalar | None], path: DataPath, file: str, known_settings: Sequence[str]
) -> Iterator[Finding]:
    spelled = {key.casefold() for key in known_settings}
    removed = {key.casefold(): instead for key, instead in slurm_keys().removed.items()}
    for key in settings:
        if key.casefold() in spelled:
            continue
        if key.casefold() in removed:
            message = f"Slurm has removed {key}; its replacement: {removed[key.casefold()]}"
            yield error((*path, key), message, fix="remove it")
            continue
        near = did_you_mean(key, known_settings)
        correct_place = _elsewhere(key, file)
        fix = correct_place or (f'did you mean "{near}"?' if near else None)
        message = f"{file} has no key {key}"
        severity = Severity.ERROR if fix else Severity.WARNING
        yield Finding("slurm-key", message, (*path, key), fix, severity)


def _elsewhere(key: str, file: str) -> str | None:
    """Return a fix with the settings to which the key belongs; None if there are none."""
    lists = slurm_keys()
    keys_by_file = {
        "slurm.conf": (lists.slurm_conf, "scheduler.overrides.slurm_conf"),
        "cgroup.conf": (lists.cgroup_conf, "scheduler.overrides.cgroup_conf"),
        "a partition": (lists.partition, "a partition's settings"),
        "a node": (lists.node, "aws.pools[].slurm"),
    }
    for name, (keys, setting) in keys_by_file.items():
        if name != file and key.casefold() in (key_name.casefold() for key_name in keys):
            return f"move it to {setting}"
    return None


def _restricted(environment: Environment) -> bool:
    """Return true if a data class is limited to one site."""
    return any(len(set(data_class.sites)) < 2 for data_class in environment.data_classes.values())


def _settings(partition: str) -> DataPath:
    return ("scheduler", "partitions", partition, "settings")
