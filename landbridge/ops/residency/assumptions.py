"""Assumptions of the proof: what the compiled forms do not show, with the position of the setting that needs each."""

from collections.abc import Iterator
from dataclasses import dataclass

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, Severity
from landbridge.ops.residency.compiled import CompiledForms
from landbridge.plan.network.hosts import service_hosts

_HUB_ROLE = "MLflow's servers of {classes} have the role hub in common: their own checks separate these classes"


@dataclass(frozen=True, slots=True)
class Assumption:
    """Statement that the proof does not check. `path` is empty for statements about every environment."""

    text: str
    path: DataPath = ()

    def finding(self) -> Finding:
        """Return it as a finding of severity info."""
        return Finding("residency-assumption", self.text, self.path, None, Severity.INFO)


_ALWAYS = (
    "AWS, Slurm, NFS, nftables, MLflow and the object store do what their configuration says; IAM decides as its documentation describes",
    "root of each host, and the AWS account's administrators, are trusted",
    "people and programs store data of a class only with that class's account, and in its places",
    "names, comments and paths of jobs, names of accounts, tags and metric labels contain no data",
    "jobs of the Slurm account root, which operators use for tests, have no data of a class",
    "file permissions separate the users and accounts that share a file system",
    "container images and packages contain no data of a class",
)


def assumptions(forms: CompiledForms) -> tuple[Assumption, ...]:
    """Return the assumptions: first the assumptions of every environment, then those that follow from this one's
    settings.
    """
    return (*map(Assumption, _ALWAYS), *_of_people(forms), *_of_storage(forms), *_of_aws(forms), *_of_site(forms))


def _of_people(forms: CompiledForms) -> Iterator[Assumption]:
    environment, by_user = forms.environment, dict[str, set[str]]()
    path: DataPath = ("scheduler", "accounts")
    if not environment.scheduler.accounts:
        yield Assumption("there are no Slurm accounts: the data class of a job is not known", ("scheduler",))
    for account in environment.scheduler.accounts.values():
        for user in account.users:
            by_user.setdefault(user, set()).add(account.data_class)
    for user, classes in sorted(by_user.items()):
        if len(classes) > 1:
            yield Assumption(f"{user} copies no data between the classes {', '.join(sorted(classes))}", path)


def _of_storage(forms: CompiledForms) -> Iterator[Assumption]:
    storage = forms.environment.storage
    if storage.home.kind == "external_nfs":
        yield Assumption(f"{storage.home.host} exports homes to the hosts of the file only", ("storage", "home"))
    for name in storage.site_shares:
        text = f"the server of {name} admits no node in AWS; its exports are not in the file"
        yield Assumption(text, ("storage", "site_shares", name))
    for path, share in storage.existing().items():
        text = f"{share.id} holds data of class {share.data_class} only, and its backups stay in the region"
        yield Assumption(text, ("storage", *path, "data_class"))
    if "mover" in forms.roles and forms.moved:
        served = service_hosts(forms.environment)
        host, classes = served.storage or served.mlops, ", ".join(sorted(forms.moved))
        yield Assumption(f"the data mover on {host} copies each of {classes} to its own bucket, and no other data")
    if len(forms.archives) > 1:
        classes = ", ".join(sorted(archive.data_class for archive in forms.archives))
        text = f"the timers of {classes} write models into the bucket of their class: their role is the same"
        yield Assumption(text, ("observability", "timers"))
    for form in (each for each in forms.caches if each.group):
        text = f"the group {form.group} has only users of accounts of class {form.data_class}, on every node"
        yield Assumption(text, ("storage", "staging", "groups", form.data_class))
    stored = sorted({server.stores_in for server in forms.servers if server.stores_in is not None})
    if len(stored) > 1:
        yield Assumption(_HUB_ROLE.format(classes=" and ".join(stored)), ("mlops", "mlflow"))


def _of_aws(forms: CompiledForms) -> Iterator[Assumption]:
    aws = forms.environment.aws
    if aws.nat != "none":
        yield Assumption("jobs send no data to the internet, which nodes reach through NAT", ("aws", "nat"))
    if aws.vpc is not None:
        yield Assumption("routes and endpoints of the existing VPC lead to no other network", ("aws", "vpc"))
    for index, entry in enumerate(aws.egress):
        yield Assumption(f"data may be at {entry.destination}: {entry.why}", ("aws", "egress", index))
    for number, account in enumerate(aws.endpoint_policy.accounts):
        text = f"the AWS account {account} may hold data of every class in AWS"
        yield Assumption(text, ("aws", "endpoint_policy", "accounts", number))
    for number, policy in enumerate(aws.iam.node_policies):
        text = f"the managed policy {policy} gives nodes no data: its text is not in the file"
        yield Assumption(text, ("aws", "iam", "node_policies", number))
    for number, pool in enumerate(aws.pools):
        if pool.node_policies:
            text = f"the managed policies of pool {pool.name} give nodes no data"
            yield Assumption(text, ("aws", "pools", number, "node_policies"))


def _of_site(forms: CompiledForms) -> Iterator[Assumption]:
    environment: Environment = forms.environment
    if environment.onprem is None:
        return
    mode = environment.hosts.firewall.mode
    if mode != "enforce":
        yield Assumption(f"no host of the site drops packets (mode: {mode})", ("hosts", "firewall", "mode"))
    if environment.existing_slurm is not None:
        text = "the site's own slurm.conf keeps accounts out of partitions where their data may not be"
        yield Assumption(text, ("onprem", "existing_slurm"))
    yield Assumption("the site's routers forward no packet from AWS to another network", ("link",))
