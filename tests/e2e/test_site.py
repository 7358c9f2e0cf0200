"""The configured site on real machines: jobs, homes and MLflow for users, and a second, limited run."""

import json

import pytest

from sandbox.demo.bring_up import BringUp
from sandbox.demo.cluster import ClusterError, LabCluster
from sandbox.demo.work import command, program
from sandbox.nspawn.machine import nodes

pytestmark = [pytest.mark.lab, pytest.mark.engine]


@pytest.fixture(scope="module")
def cluster(deployment: BringUp) -> LabCluster:
    return deployment.cluster


def test_every_host_uses_the_controllers_slurm_configuration(cluster: LabCluster) -> None:
    written = cluster.run("ctl01", "cat", "/etc/slurm/slurm.conf")
    assert "NodeName=dgx[01-02]" in written
    assert cluster.run("login01", "cat", "/run/slurm/conf/slurm.conf") == written
    for node in ("dgx01", "dgx02"):
        assert cluster.run(node, "cat", "/var/lib/slurm/slurmd/conf-cache/slurm.conf") == written
        assert nodes.exec(cluster.lab, node, ["test -e /etc/slurm/slurm.conf"]).returncode != 0


def test_a_users_job_gets_whole_gpus_and_is_accounted_for(cluster: LabCluster) -> None:
    options = ["srun", "--partition=onprem", "--nodes=2", "--gpus-per-node=2", "--time=1"]
    output = cluster.run("login01", *options, "sh", "-c", "echo $(hostname) $CUDA_VISIBLE_DEVICES", user="alice")
    assert sorted(output.split("\n")[:2]) == ["dgx01 0,1", "dgx02 0,1"]
    newest = cluster.run("ctl01", "sacct", "-X", "-a", "-n", "-P", "-o", "user,account,alloctres").splitlines()[-1]
    assert newest.startswith("alice|vision|") and "gres/gpu:h100=4" in newest


def test_a_job_of_an_unknown_account_is_refused(cluster: LabCluster) -> None:
    with pytest.raises(ClusterError, match="account 'nobody' is not in the cluster's environment"):
        cluster.run("login01", "srun", "--account=nobody", "--time=1", "true", user="alice")


def test_a_limited_run_touches_no_other_host(deployment: BringUp) -> None:
    words = [program("landbridge"), "configure", *deployment.file, "--limit", "login01", "--format", "json"]
    output = command(words, timeout=300)
    report = json.loads(output[output.index("{") :])
    assert list(report["hosts"]) == ["login01"]
    assert report["hosts"]["login01"] == {**report["hosts"]["login01"], "changed": 0, "failed": 0, "unreachable": 0}


def test_mlflow_requires_a_password_and_its_own_host_name(cluster: LabCluster) -> None:
    url = "https://mlops01:5000/api/2.0/mlflow/experiments/search?max_results=1"
    script = """import os, ssl, sys, urllib.request, urllib.error, base64, configparser, pathlib
url, login, host = sys.argv[1:]
request = urllib.request.Request(url, headers={"Host": host})
if login == "own":
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(pathlib.Path.home() / ".mlflow/credentials")
    pair = parser["mlflow"]["mlflow_tracking_username"] + ":" + parser["mlflow"]["mlflow_tracking_password"]
    request.add_header("Authorization", "Basic " + base64.b64encode(pair.encode()).decode())
try:
    context = ssl.create_default_context(cafile=os.environ["MLFLOW_TRACKING_SERVER_CERT_PATH"])
    print(urllib.request.urlopen(request, timeout=20, context=context).status)
except urllib.error.HTTPError as error:
    print(error.code)"""

    def status(login: str, host: str) -> str:
        return cluster.run("login01", "python3", "-c", script, url, login, host, user="alice").strip()

    assert status("none", "mlops01:5000") == "401"
    assert status("own", "mlops01:5000") == "200"
    assert status("own", "evil.example.org") == "403"


def test_a_home_belongs_to_its_owner_on_every_host(cluster: LabCluster) -> None:
    cluster.run("login01", "sh", "-c", "umask 077; echo mine > ~/private", user="alice")
    assert cluster.run("dgx01", "cat", "/home/alice/private", user="alice") == "mine\n"
    with pytest.raises(ClusterError, match="Permission denied"):
        cluster.run("dgx01", "cat", "/home/alice/private", user="bob")
