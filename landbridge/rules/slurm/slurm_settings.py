"""Rules about settings of Slurm's own files that a site writes itself."""

from collections.abc import Iterator, Mapping, Sequence

from landbridge.catalog.slurm.keys import slurm_keys
from landbridge.environment import Environment
from landbridge.environment.base import Scalar
from landbridge.findings import DataPath, Finding, Severity, did_you_mean, error, warning
from landbridge.rules.registry import rule

_CONF: DataPath = ("scheduler", "overrides", "slurm_conf")
_CGROUP: DataPath = ("scheduler", "overrides", "cgroup_conf")
_INSTEAD = {
    "clustername": "the environment's name",
    "slurmctldhost": "onprem.services.controller",
    "authtype": "scheduler.auth",
    "nodename": "onprem.nodes and aws.pools",
    "nodeset": "scheduler.partitions",
    "partitionname": "scheduler.partitions",
    "accountingstoragehost": "onprem.services.database",
    "resumeprogram": "aws.pools: the burst controller is called by it",
    "suspendprogram": "aws.pools: the burst controller is called by it",
    "resumefailprogram": "aws.pools: the burst controller is called by it",
    "prologslurmctld": "aws.pools: it waits for nodes that are being started",
    "resumetimeout": "aws.pools[].resume_timeout",
    "suspendtime": "aws.pools[].suspend_after",
    "slurmctldport": "what the link and the security groups let through",
    "slurmdport": "what the link and the security groups let through",
    "srunportrange": "what the link and the security groups let through",
}
_INSTEAD_IN_QUEUE = {
    "partitionname": "the queue's key",
    "nodes": "nodes:",
    "default": "default:",
    "maxtime": "max_time:",
}


@rule
def protected_setting(environment: Environment) -> Iterator[Finding]:
    """Keys that follow from the rest of the file are set there: so they stay true for roles, components and burst too.

    Source: Landbridge: slurm.conf is made from the environment alone.
    """
    for key in environment.scheduler.overrides.slurm_conf:
        if key.casefold() in _INSTEAD:
            message = f"{key} follows from {_INSTEAD[key.casefold()]}"
            yield error((*_CONF, key), message, fix="set it there")
    for name, partition in environment.scheduler.partitions.items():
        for key in partition.settings:
            if key.casefold() in _INSTEAD_IN_QUEUE:
                message = f"{key} is written as {_INSTEAD_IN_QUEUE[key.casefold()]}"
                yield error((*_settings(name), key), message, fix="set it there")


@rule(suppressible=False)
def residency_setting(environment: Environment) -> Iterator[Finding]:
    """Who may use a queue follows from the data classes of accounts and the sites of its nodes; nothing takes that away.

    Deleted or replaced, AllowAccounts lets restricted data's jobs run in AWS, without associations it holds for nobody, and
    without job_submit.lua nothing holds where a queue is changed by hand.
    Source: slurm.conf(5), AllowAccounts, AccountingStorageEnforce and JobSubmitPlugins; design, decision 6: restricted classes
    are denied in layers.
    """
    for name, partition in environment.scheduler.partitions.items():
        for key in partition.settings:
            if key.casefold() in ("allowaccounts", "denyaccounts", "allowgroups", "allowqos") and _restricted(
                environment
            ):
                message = f"{key} decides where data of a class may go; it follows from data_classes and accounts"
                fix = "give the accounts their data_class"
                yield error((*_settings(name), key), message, fix=fix, related=(("data_classes", "*", "sites"),))
    for key, value in environment.scheduler.overrides.slurm_conf.items():
        if not environment.scheduler.accounts:
            continue
        if key.casefold() == "jobsubmitplugins" and "lua" not in str(value or "").casefold().split(","):
            message = "without job_submit.lua, a queue changed by hand lets restricted data's jobs run in AWS"
            yield error((*_CONF, key), message, fix="keep lua in it")
        if key.casefold() != "accountingstorageenforce":
            continue
        if value is None or "associations" not in str(value).casefold():
            message = "without associations, jobs run in accounts that their users are not in"
            yield error((*_CONF, key), message, fix="keep associations in it")


@rule
def slurm_key(environment: Environment) -> Iterator[Finding]:
    """A key is one that the file has: with any other, Slurm's daemons do not start.

    A warning where it may be newer than the list.
    Source: slurm.conf(5) and cgroup.conf(5), as in landbridge/catalog/slurm_keys.yaml.
    """
    known = slurm_keys()
    overrides = environment.scheduler.overrides
    yield from _unknown(overrides.slurm_conf, _CONF, "slurm.conf", known.slurm_conf)
    yield from _unknown(overrides.cgroup_conf, _CGROUP, "cgroup.conf", known.cgroup_conf)
    for name, partition in environment.scheduler.partitions.items():
        yield from _unknown(partition.settings, _settings(name), "a queue", known.partition)


@rule
def slurm_value(environment: Environment) -> Iterator[Finding]:
    """A value is one line without a comment in it, and a key is written once, whatever its case.

    Source: slurm.conf(5): # begins a comment, and keys are not case sensitive.
    """
    overrides = environment.scheduler.overrides
    files: list[tuple[DataPath, Mapping[str, Scalar | None]]] = [
        (_CONF, overrides.slurm_conf),
        (_CGROUP, overrides.cgroup_conf),
    ]
    files += [(_settings(name), one.settings) for name, one in environment.scheduler.partitions.items()]
    for path, settings in files:
        seen: dict[str, str] = {}
        for key, value in settings.items():
            first = seen.setdefault(key.casefold(), key)
            if first != key:
                message = f"{key} and {first} are the same key"
                yield error((*path, key), message, fix="remove one", related=((*path, first),))
            if isinstance(value, str) and (not value.isprintable() or "#" in value):
                message = f"{key}: a value is one line, and # begins a comment"
                yield error((*path, key), message)
            elif isinstance(value, str) and not value.strip():
                message = f"{key} has no value"
                yield error((*path, key), message, fix="null deletes a key")


@rule
def slurm_choice(environment: Environment) -> Iterator[Finding]:
    """A key that takes one of a few words has one of them: with another, Slurm's daemons do not start.

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
    """Settings on which the cluster rests stay as they are: each of these has been the reason of an outage or of a leak.

    Source: slurm.conf(5), cgroup.conf(5); Site-to-Site VPN User Guide, "Tunnel endpoint replacements".
    """
    for path, key, value in _written(environment):
        name, text = key.casefold(), str(value).casefold()
        message = None
        if name == "slurmctldparameters" and value is not None and "enable_configless" not in text:
            message = "without enable_configless, nodes do not get their configuration"
        elif name == "constraindevices" and text in ("false", "no"):
            message = "without it, every job sees every GPU of its node"
        elif name == "constrainramspace" and text in ("false", "no"):
            message = "without it, one job takes the memory of all"
        elif name == "slurmdtimeout" and isinstance(value, int) and 0 < value < 300 and environment.aws.pools:
            message = f"when the link changes over, nodes are silent for minutes; after {value} s their jobs are ended"
        elif name == "preemptmode" and ("suspend" in text or "gang" in text):
            message = "a suspended job keeps its GPUs' memory, and the next one finds none"
        elif name == "returntoservice" and text == "2":
            message = "a node that crashed under a job takes the next one, and nobody looks"
        elif name == "proctracktype" and "cgroup" not in text:
            message = "processes that leave their session outlive their job"
        if message is not None:
            yield warning((*path, key), f"{key}: {message}", fix="remove it")


@rule
def partition_named_default(environment: Environment) -> Iterator[Finding]:
    """No queue and no pool is named default: Slurm takes such a line for the defaults of all lines after it.

    Source: slurm.conf(5): PartitionName=DEFAULT and NodeName=DEFAULT, in any case of letters.
    """
    message = "a line named default is Slurm's for the defaults of all others"
    for name in environment.scheduler.partitions:
        if name == "default":
            yield error(("scheduler", "partitions", name), message, fix="choose another name")
    for index, pool in enumerate(environment.aws.pools):
        if pool.name == "default":
            yield error(("aws", "pools", index, "name"), message, fix="choose another name")


def _written(environment: Environment) -> Iterator[tuple[DataPath, str, Scalar | None]]:
    """Every setting that the site wrote itself: the path of its mapping, its key and its value."""
    overrides = environment.scheduler.overrides
    files: list[tuple[DataPath, Mapping[str, Scalar | None]]] = [
        (_CONF, overrides.slurm_conf),
        (_CGROUP, overrides.cgroup_conf),
        *((_settings(name), one.settings) for name, one in environment.scheduler.partitions.items()),
    ]
    for path, settings in files:
        yield from ((path, key, value) for key, value in settings.items())


def _unknown(
    settings: Mapping[str, Scalar | None], path: DataPath, file: str, known: Sequence[str]
) -> Iterator[Finding]:
    spelled = {key.casefold() for key in known}
    gone = {key.casefold(): instead for key, instead in slurm_keys().gone.items()}
    for key in settings:
        if key.casefold() in spelled:
            continue
        if key.casefold() in gone:
            message = f"Slurm has no {key} any more; in its place: {gone[key.casefold()]}"
            yield error((*path, key), message, fix="remove it")
            continue
        near = did_you_mean(key, known)
        elsewhere = _elsewhere(key, file)
        fix = elsewhere or (f'did you mean "{near}"?' if near else None)
        message = f"{file} has no key {key}"
        severity = Severity.ERROR if elsewhere else Severity.WARNING
        yield Finding("slurm-key", message, (*path, key), fix, severity)


def _elsewhere(key: str, file: str) -> str | None:
    """The place where the key does belong."""
    lists = slurm_keys()
    places = {
        "slurm.conf": (lists.slurm_conf, "scheduler.overrides.slurm_conf"),
        "cgroup.conf": (lists.cgroup_conf, "scheduler.overrides.cgroup_conf"),
        "a queue": (lists.partition, "a queue's settings"),
    }
    for name, (words, where) in places.items():
        if name != file and key.casefold() in (word.casefold() for word in words):
            return f"it is a key of {where}"
    return None


def _restricted(environment: Environment) -> bool:
    """Whether there is data that may not be everywhere."""
    return any(len(set(one.sites)) < 2 for one in environment.data_classes.values())


def _settings(queue: str) -> DataPath:
    return ("scheduler", "partitions", queue, "settings")
