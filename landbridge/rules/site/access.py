"""Rules about how hosts are reached and named, and what listens on them."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.network.hosts import service_hosts
from landbridge.rules.registry import rule

#: Domains that somebody else answers for: every VPC's own, mDNS, Kubernetes, and what RFC 6761 keeps.
_OTHERS = {
    "compute.internal": "AWS's DNS answers for it in every VPC",
    "ec2.internal": "AWS's DNS answers for it in every VPC",
    "amazonaws.com": "AWS answers for it",
    "cluster.local": "Kubernetes answers for it inside every cluster",
    "local": "multicast DNS answers for it (RFC 6762)",
    "localhost": "it is every machine's own",
    "invalid": "nothing answers for it (RFC 6761)",
}
#: What Slurm and NFS listen at, which a service on the same host cannot have.
_TAKEN = {22: "ssh", 111: "NFS", 2049: "NFS", 3306: "MariaDB", 6817: "slurmctld", 6818: "slurmd", 6819: "slurmdbd"}


@rule
def domain_name(environment: Environment) -> Iterator[Finding]:
    """The site's domain is a name of labels, and one that nobody else answers for.

    Source: RFC 1035, section 2.3.1; RFC 6761 and 6762; Amazon VPC User Guide, "DNS attributes for your VPC".
    """
    served = service_hosts(environment)
    domain, path = served.domain, (*served.path, "domain")
    labels = domain.split(".")
    if any(not label or len(label) > 63 or label[0] == "-" or label[-1] == "-" for label in labels):
        message = f'"{domain}" is no domain: labels are of letters, digits and inner dashes, with single dots'
        yield error(path, message, fix="such as cluster.example.org")
        return
    for other, why in _OTHERS.items():
        if domain == other or domain.endswith(f".{other}"):
            yield error(path, f"{domain}: {why}", fix="use a part of your own domain")
            return


@rule(public_aws=True)
def root_access(environment: Environment) -> Iterator[Finding]:
    """Operators log in as themselves, or as a user without rights of its own, and ask for them.

    Source: CIS Debian Linux Benchmark, "Ensure sshd PermitRootLogin is disabled".
    """
    served = service_hosts(environment)
    if served.access.user == "root":
        message = "operators log in as root: nobody can tell who did what"
        yield warning((*served.path, "access", "user"), message, fix="use a user with sudo")


@rule(public_aws=True)
def host_keys(environment: Environment) -> Iterator[Finding]:
    """The hosts' keys are kept from first contact on: without them, anybody on the way is the host.

    Source: ssh_config(5), UserKnownHostsFile.
    """
    served = service_hosts(environment)
    access, at = served.access, (*served.path, "access")
    command = access.proxy_command or ""
    if access.known_hosts == "/dev/null":
        yield warning((*at, "known_hosts"), "no host's key is kept, so none is ever checked", fix="remove it")
    if "StrictHostKeyChecking=no" in command.replace(" ", ""):
        message = "the bastion's key is not checked"
        yield warning((*at, "proxy_command"), message, fix="use accept-new")


@rule
def duplicate_service_host(environment: Environment) -> Iterator[Finding]:
    """A standby is another machine, and a host serves one thing once.

    Source: slurm.conf(5), SlurmctldHost: the second takes over when the first is gone.
    """
    if environment.onprem is None:
        return
    for role in ("controller", "login"):
        hosts = getattr(environment.onprem.services, role)
        for index, host in enumerate(hosts):
            if host in hosts[:index]:
                path: DataPath = ("onprem", "services", role, index)
                yield error(path, f"{host} is a {role} host already", fix="name another one")


@rule
def port_taken(environment: Environment) -> Iterator[Finding]:
    """Two services of one host listen at two ports, and not where Slurm, NFS or ssh do.

    Source: IANA's port numbers; Slurm's defaults.
    """
    mlops = environment.mlops
    path: DataPath = ("mlops", "mlflow", "port")
    ports = [(mlops.mlflow.port, path)]
    if mlops.registry is not None:
        own: DataPath = ("mlops", "registry", "port")
        ports.append((mlops.registry.port, own))
        if mlops.registry.port == mlops.mlflow.port:
            message = (
                f"the registry and MLflow both listen at {mlops.mlflow.port} of {service_hosts(environment).mlops}"
            )
            yield error(own, message, fix="choose another port", related=(path,))
    rest = environment.scheduler.rest
    if rest is not None:
        ports.append((rest.port, ("scheduler", "rest", "port")))
    for port, at in ports:
        if port in _TAKEN:
            yield error(at, f"{port} is {_TAKEN[port]}'s", fix="choose another port")


@rule
def mlflow_allowed_hosts(environment: Environment) -> Iterator[Finding]:
    """MLflow answers to names that are its own: to any name, a web page elsewhere can make a browser ask it.

    Source: MLflow, "Network security": allowed hosts; OWASP, DNS rebinding.
    """
    for index, name in enumerate(environment.mlops.mlflow.allowed_hosts):
        path: DataPath = ("mlops", "mlflow", "allowed_hosts", index)
        if name in ("*", "*:*"):
            yield warning(path, "MLflow answers to any name", fix="name the hosts")
        elif "://" in name or "/" in name:
            message = f'"{name}" is an address of a page; a host is asked for'
            yield error(path, message, fix=f"write {name.split('://')[-1].split('/')[0]}")


@rule(public_aws=True)
def unprotected_data(environment: Environment) -> Iterator[Finding]:
    """What cannot be made again outlives `landbridge destroy`: buckets, keys and secrets, unless the environment is thrown away.

    Source: ParallelCluster DeletionPolicyValidator; aws-parallelcluster issue 4651.
    """
    if not environment.aws.protect:
        message = "destroy takes buckets, keys and secrets with it, and nothing brings them back"
        yield warning(("aws", "protect"), message, fix="write protect: true")


@rule
def home_options(environment: Environment) -> Iterator[Finding]:
    """Homes are mounted hard, and with the file system's own locks: a soft mount gives up in the middle of a write.

    Source: nfs(5): soft, nolock and the version.
    """
    home = environment.storage.home
    if home.kind != "external_nfs":
        return
    options = dict(one.partition("=")[::2] for one in home.options.split(",") if one)
    path: DataPath = ("storage", "home", "options")
    if "soft" in options or "softerr" in options:
        message = "soft: while the filer does not answer, writes are lost and programs are told so too late"
        yield warning(path, message, fix="use hard")
    if "hard" in options and ("soft" in options or "softerr" in options):
        yield error(path, "hard and soft exclude each other", fix="use hard")
    version = options.get("vers", options.get("nfsvers", ""))
    if version.startswith(("2", "3")):
        message = f"NFS version {version} needs ports that the link does not carry, and has no locks of its own"
        yield warning(path, message, fix="use vers=4.2")
