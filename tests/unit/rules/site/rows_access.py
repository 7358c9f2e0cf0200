"""Mistakes with access to hosts, their names and their ports."""

from tests.unit.rules.row import Row

ACCESS = ("onprem", "access")
MLFLOW = ("mlops", "mlflow")
FILER = {"kind": "external_nfs", "host": "filer.example.org", "export": "/vol/home"}

ROWS = [
    Row("domain-name", "a domain with two dots in a row", {("onprem", "domain"): "gpu..example.org"}, ("onprem", "domain"), '"gpu..example.org" is not a valid domain name'),
    Row("domain-name", "a domain of multicast DNS", {("onprem", "domain"): "gpu.local"}, ("onprem", "domain"), "multicast"),
    Row("domain-name", "a domain that AWS resolves itself", {("onprem", "domain"): "ec2.internal"}, ("onprem", "domain"), "VPC"),
    Row("root-access", "operators log in as root", {ACCESS: {"user": "root"}}, (*ACCESS, "user"), "sudo"),
    Row("host-keys", "host keys that are not stored", {ACCESS: {"known_hosts": "/dev/null"}}, (*ACCESS, "known_hosts"), "is checked"),
    Row("host-keys", "the bastion's key is not checked", {ACCESS: {"proxy_command": "ssh -o StrictHostKeyChecking=no -W %h:%p b"}}, (*ACCESS, "proxy_command"), "accept-new"),
    Row("duplicate-service-host", "a backup controller that is the primary", {("onprem", "services"): {"controller": ["ctl01", "ctl01"]}}, ("onprem", "services", "controller", 1), "the controller host ctl01 is repeated"),
    Row("port-taken", "the registry at MLflow's port", {("mlops",): {"mlflow": {"port": 5001}, "registry": {}}}, ("mlops", "registry", "port"), "the registry and MLflow have the same"),
    Row("port-taken", "MLflow at slurmdbd's port", {MLFLOW: {"port": 6819}}, (*MLFLOW, "port"), "slurmdbd"),
    Row("port-taken", "Slurm over HTTP at slurmctld's port", {("scheduler", "rest"): {"port": 6817}}, ("scheduler", "rest", "port"), "slurmctld"),
    Row("mlflow-allowed-hosts", "MLflow answers to any name", {MLFLOW: {"allowed_hosts": ["*"]}}, (*MLFLOW, "allowed_hosts", 0), "any host name"),
    Row("mlflow-allowed-hosts", "a URL instead of a host", {MLFLOW: {"allowed_hosts": ["https://mlflow.example.org/ui"]}}, (*MLFLOW, "allowed_hosts", 0), "mlflow.example.org"),
    Row("unprotected-data", "destroy deletes the data", {("aws", "protect"): False}, ("aws", "protect"), "protect: true"),
    Row("home-options", "homes mounted soft", {("storage", "home"): {**FILER, "options": "vers=4.2,soft"}}, ("storage", "home", "options"), "hard"),
    Row("home-options", "homes by NFS version 3", {("storage", "home"): {**FILER, "options": "vers=3,hard"}}, ("storage", "home", "options"), "4.2"),
]  # fmt: skip
