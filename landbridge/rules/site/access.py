"""Rules about domain names, SSH access and ports of hosts."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.network.hosts import service_hosts
from landbridge.rules.registry import rule

#: Domains that other systems answer: the VPC resolver, mDNS, Kubernetes, and names reserved by RFC 6761.
_RESERVED_DOMAINS = {
    "compute.internal": "AWS's DNS answers for it in every VPC",
    "ec2.internal": "AWS's DNS answers for it in every VPC",
    "amazonaws.com": "AWS answers for it",
    "cluster.local": "Kubernetes answers for it inside every cluster",
    "local": "multicast DNS answers for it (RFC 6762)",
    "localhost": "it is the host itself on every host",
    "invalid": "no server answers for it (RFC 6761)",
}
#: Ports of ssh, NFS, MariaDB and Slurm, which other services on the same host cannot use.
_USED_PORTS = {22: "ssh", 111: "NFS", 2049: "NFS", 3306: "MariaDB", 6817: "slurmctld", 6818: "slurmd", 6819: "slurmdbd"}


@rule
def domain_name(environment: Environment) -> Iterator[Finding]:
    """The site's domain is a valid domain name that no other system answers for.

    Source: RFC 1035, section 2.3.1; RFC 6761 and 6762; Amazon VPC User Guide, "DNS attributes for your VPC".
    """
    hosts = service_hosts(environment)
    domain, path = hosts.domain, (*hosts.path, "domain")
    labels = domain.split(".")
    if any(not label or len(label) > 63 or label[0] == "-" or label[-1] == "-" for label in labels):
        message = f'"{domain}" is not a valid domain name: labels have letters, digits and inner dashes'
        yield error(path, message, fix="write a domain such as cluster.example.org")
        return
    for other, why in _RESERVED_DOMAINS.items():
        if domain == other or domain.endswith(f".{other}"):
            yield error(path, f"the domain {domain} cannot be used: {why}", fix="use a subdomain of your own domain")
            return


@rule(public_aws=True)
def root_access(environment: Environment) -> Iterator[Finding]:
    """Operators do not log in as root.

    Source: CIS Debian Linux Benchmark, "Ensure sshd PermitRootLogin is disabled".
    """
    hosts = service_hosts(environment)
    if hosts.access.user == "root":
        message = "access.user is root: changes cannot be traced to an operator"
        yield warning((*hosts.path, "access", "user"), message, fix="write a user with sudo")


@rule(public_aws=True)
def host_keys(environment: Environment) -> Iterator[Finding]:
    """SSH host keys are stored and checked: without them, a man in the middle is not detected.

    Source: ssh_config(5), UserKnownHostsFile.
    """
    hosts = service_hosts(environment)
    access, access_path = hosts.access, (*hosts.path, "access")
    command = access.proxy_command or ""
    if access.known_hosts == "/dev/null":
        yield warning(
            (*access_path, "known_hosts"), "known_hosts is /dev/null, so no host key is checked", fix="remove it"
        )
    if "StrictHostKeyChecking=no" in command.replace(" ", ""):
        message = "StrictHostKeyChecking=no: the bastion's host key is not checked"
        yield warning((*access_path, "proxy_command"), message, fix="write StrictHostKeyChecking=accept-new")


@rule
def duplicate_service_host(environment: Environment) -> Iterator[Finding]:
    """A host is written once for each role: a standby is a different host.

    Source: slurm.conf(5), SlurmctldHost: the second takes over when the first fails.
    """
    if environment.onprem is None:
        return
    for role in ("controller", "login"):
        hosts = getattr(environment.onprem.services, role)
        for index, host in enumerate(hosts):
            if host in hosts[:index]:
                path: DataPath = ("onprem", "services", role, index)
                yield error(path, f"the {role} host {host} is repeated", fix="write another host")


@rule
def port_taken(environment: Environment) -> Iterator[Finding]:
    """Services of one host have different ports, and none of the ports of Slurm, NFS or ssh.

    Source: IANA's port numbers; Slurm's defaults.
    """
    mlops = environment.mlops
    path: DataPath = ("mlops", "mlflow", "port")
    ports = [(mlops.mlflow.port, path)]
    if mlops.registry is not None:
        port_path: DataPath = ("mlops", "registry", "port")
        ports.append((mlops.registry.port, port_path))
        if mlops.registry.port == mlops.mlflow.port:
            message = (
                f"the registry and MLflow have the same port {mlops.mlflow.port} on {service_hosts(environment).mlops}"
            )
            yield error(port_path, message, fix="write another port", related=(path,))
    rest_api = environment.scheduler.rest
    if rest_api is not None:
        ports.append((rest_api.port, ("scheduler", "rest", "port")))
    for port, port_setting in ports:
        if port in _USED_PORTS:
            yield error(port_setting, f"port {port} is used by {_USED_PORTS[port]}", fix="write another port")


@rule
def mlflow_allowed_hosts(environment: Environment) -> Iterator[Finding]:
    """MLflow has specific allowed_hosts: with any name, DNS rebinding allows web pages to send requests to it.

    Source: MLflow, "Network security": allowed hosts; OWASP, DNS rebinding.
    """
    for index, name in enumerate(environment.mlops.mlflow.allowed_hosts):
        path: DataPath = ("mlops", "mlflow", "allowed_hosts", index)
        if name in ("*", "*:*"):
            yield warning(path, "allowed_hosts allows any host name", fix="write the host names")
        elif "://" in name or "/" in name:
            message = f'"{name}" is a URL, not a host name'
            yield error(path, message, fix=f"write {name.split('://')[-1].split('/')[0]}")


@rule(public_aws=True)
def unprotected_data(environment: Environment) -> Iterator[Finding]:
    """Buckets, keys and secrets are protected from `landbridge destroy`, except in temporary environments.

    Source: ParallelCluster DeletionPolicyValidator; aws-parallelcluster issue 4651.
    """
    if not environment.aws.protect:
        message = "protect is false: `landbridge destroy` deletes buckets, keys and secrets permanently"
        yield warning(("aws", "protect"), message, fix="write protect: true")


@rule
def home_options(environment: Environment) -> Iterator[Finding]:
    """Home directories are mounted hard, with NFS 4: a soft mount can lose writes.

    Source: nfs(5): soft, nolock and the version.
    """
    home = environment.storage.home
    if home.kind != "external_nfs":
        return
    options = dict(word.partition("=")[::2] for word in home.options.split(",") if word)
    path: DataPath = ("storage", "home", "options")
    if "soft" in options or "softerr" in options:
        message = "the option soft loses writes while the filer does not answer"
        yield warning(path, message, fix="write hard")
    if "hard" in options and ("soft" in options or "softerr" in options):
        yield error(path, "the options hard and soft exclude each other", fix="write hard")
    version = options.get("vers", options.get("nfsvers", ""))
    if version.startswith(("2", "3")):
        message = f"NFS version {version} needs ports that the link does not allow, and has no built-in locks"
        yield warning(path, message, fix="write vers=4.2")
