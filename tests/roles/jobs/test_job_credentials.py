"""A user's job on a real node gets the objects of its account's data class, and by no attempt anything else."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandbox.demo.cluster import ClusterError, LabCluster, wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from tests.roles.jobs.credentials_lab import ROLE, SITE, Account, configure, emulated_aws, environment, furnish

pytestmark = [pytest.mark.lab]

NAME = "landbridge-test-credentials"
ATTEMPTS = Path(__file__).with_name("job_attempts.py")
#: Layer that refuses each attempt, with a part of its answer.
FIREWALL, IDENTITY, FILES, IAM = "Connection refused", "landbridge: ", "Permission", "AccessDenied"
REFUSED = {
    "metadata": FIREWALL,
    "metadata by IPv6": "Error",
    "metadata as root of a user namespace": FIREWALL,
    "address and token of another own job": "OtherJob",
    "own address with the token of another own job": "WrongToken",
    "address and token of another user's job": "OtherJob",
    "own address without a token": "WrongToken",
    "another class by its name": "OtherJob",
    "another class in the query": "OtherJob",
    "file of the own job": FILES,
    "token file of another user": FILES,
    "memory of the endpoint": FILES,
    "control group of another own job": FILES,
    "key of Slurm": FILES,
    "secret of Slurm's key": IAM,
    "role of another class": IAM,
    "role of nodes": IAM,
    "object deleted": IAM,
    "object of another class read": IAM,
    "object of another class written": IAM,
    "bucket of another class listed": IAM,
    "buckets listed": IAM,
    "roles listed": IAM,
    "instance terminated": "UnauthorizedOperation",
}
SHOW = "echo $AWS_CONTAINER_CREDENTIALS_FULL_URI $AWS_CONTAINER_AUTHORIZATION_TOKEN; sleep 600"
WRITE = (
    "import boto3, sys; s3 = boto3.client('s3'); s3.put_object(Bucket=sys.argv[1], Key='of-' + sys.argv[1], Body=b'x'); "
    "print('written')"
)
ASK = "import boto3; boto3.client('sts').get_caller_identity()"


@dataclass(frozen=True)
class Site:
    """The cluster, and the resources of the emulated AWS."""

    cluster: LabCluster
    account: Account

    def submit(self, script: str, account: str, user: str = "alice") -> int:
        words = ["sbatch", "--parsable", "--time=10", "--mem=200", "--cpus-per-task=1", "--gpus=1", "--chdir=/tmp"]
        words += ["--output=/tmp/%j.out", f"--account={account}", "--wrap", script]
        return int(self.cluster.run("ctl01", *words, user=user).strip())

    def output(self, job: int, accept: Any = bool) -> str:
        """Return the output of a job once it is accepted."""
        return wait_for(
            f"the output of job {job}",
            lambda: self.cluster.run("dgx01", "cat", f"/tmp/{job}.out"),
            accept,
            details=lambda: self.details(),
        )

    def details(self) -> str:
        shown = self.cluster.run("ctl01", "sh", "-c", "scontrol show job; scontrol show node")
        units = "_SYSTEMD_UNIT=landbridge-job-credentials.service + _SYSTEMD_UNIT=slurmd.service"
        journal = f"journalctl {units} + SYSLOG_IDENTIFIER=landbridge-job -o cat | tail -30"
        return shown + self.cluster.run("dgx01", "sh", "-c", journal)

    def variables(self, account: str, user: str = "alice") -> dict[str, str]:
        """Start a job that runs on; return its number and its variables."""
        job = self.submit(SHOW, account, user)
        uri, token = self.output(job, lambda text: len(text.split()) == 2).split()
        return {"job": str(job), "uri": uri, "token": token}


@pytest.fixture(scope="module", params=["26.05", pytest.param("24.11", marks=pytest.mark.long)])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    lab, folder = layout(NAME), tmp_path_factory.mktemp("credentials")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE, lambda line: print(f"  {line}", file=sys.stderr))
        chosen = environment(folder, request.param)
        with emulated_aws(lab, folder / "cloud") as cloud:
            account = furnish(cloud, chosen)
            configure(lab, chosen, folder / "credentials.yml")
            cluster = LabCluster(lab)
            started = Site(cluster, account)
            states = "sinfo -h -n dgx01 -o %T"
            wait_for("the node in service", lambda: cluster.run("ctl01", "sh", "-c", states).split(), ["idle"].__eq__)
            yield started
    finally:
        cleanup.down(lab)


def test_no_attempt_of_a_job_gets_more_than_its_class(site: Site) -> None:
    partner, bob = site.variables("guests"), site.variables("vision", "bob")
    facts = {
        "partner": partner,
        "bob": bob,
        "bucket": site.account.bucket("internal"),
        "other_bucket": site.account.bucket("partner"),
        "endpoint": site.cluster.run(
            "dgx01", "systemctl", "show", "-P", "MainPID", "landbridge-job-credentials"
        ).strip(),
        "secret": site.account.secret,
        "roles": {"partner": f"{ROLE}-job-partner", "node": f"{ROLE}-node"},
        "instance": site.account.instance,
    }
    site.cluster.put("dgx01", "/tmp/attempts.py", ATTEMPTS.read_bytes(), "root")
    site.cluster.put("dgx01", "/tmp/facts.json", json.dumps(facts).encode(), "root")
    job = site.submit("/usr/bin/python3 /tmp/attempts.py /tmp/facts.json", "vision")
    answers = json.loads(site.output(job, lambda text: text.startswith("{") or "Traceback" in text))
    assert {name: answers.pop(name) for name in ("own object written", "own object read")} == {
        "own object written": "done",
        "own object read": "done",
    }
    assert set(answers) == set(REFUSED)
    unexpected = {name: answer for name, answer in answers.items() if REFUSED[name] not in answer}
    assert unexpected == {}
    site.cluster.run("ctl01", "scancel", partner["job"], bob["job"])


def test_two_jobs_of_one_user_on_one_node_each_write_to_their_class(site: Site) -> None:
    jobs = {}
    for account, data_class in (("vision", "internal"), ("guests", "partner")):
        script = f'/usr/bin/python3 -c "{WRITE}" {site.account.bucket(data_class)}; sleep 60'
        jobs[account] = site.submit(script, account)
    for job in jobs.values():
        assert site.output(job) == "written\n"
    site.cluster.run("ctl01", "scancel", *map(str, jobs.values()))


def test_a_job_whose_data_must_stay_on_prem_reads_why_it_gets_no_credentials(site: Site) -> None:
    job = site.submit(f'/usr/bin/python3 -c "{ASK}"', "clinic")
    text = site.output(job, lambda text: "landbridge" in text)
    assert "data of class 'restricted' (account 'clinic') may not be in AWS" in text


def test_outside_the_job_and_after_its_end_its_token_is_of_no_use(site: Site) -> None:
    shown = site.variables("vision")
    python = (
        "import sys, urllib.request as u, urllib.error as e\n"
        "try: print(u.urlopen(u.Request(sys.argv[1], headers={'Authorization': sys.argv[2]})).status)\n"
        "except e.HTTPError as error: print(error.read().decode())\n"
    )
    words = ("/usr/bin/python3", "-c", python, shown["uri"], shown["token"])
    assert "NotInJob" in site.cluster.run("dgx01", *words, user="alice")
    assert "NotInJob" in site.cluster.run("dgx01", *words, user="bob")
    inside = f"/run/landbridge/job-credentials/{shown['job']}.json"
    assert site.cluster.run("dgx01", "stat", "-c", "%a %U", inside).strip() == "600 root"
    site.cluster.run("ctl01", "scancel", shown["job"])
    wait_for(
        "the end of the job's file",
        lambda: site.cluster.run("dgx01", "sh", "-c", f"test -e {inside} && echo there || echo gone").strip(),
        "gone".__eq__,
    )
    assert "NotInJob" in site.cluster.run("dgx01", *words, user="alice")


def test_root_of_the_node_still_reaches_its_metadata_and_a_container_does_not(site: Site) -> None:
    fetch = (
        "import urllib.request as u; print(len(u.urlopen(u.Request('http://169.254.169.254/latest/api/token', "
        "method='PUT', headers={'X-aws-ec2-metadata-token-ttl-seconds': '60'}), timeout=5).read()))"
    )
    assert int(site.cluster.run("dgx01", "/usr/bin/python3", "-c", fetch)) > 20
    # A network namespace behind the node, as of a container with a bridge: root in it is not root's program.
    script = (
        "ip netns add box && ip link add box0 type veth peer name box1 netns box && ip addr add 192.168.250.1/24 dev box0 && "
        "ip link set box0 up && ip -n box addr add 192.168.250.2/24 dev box1 && ip -n box link set box1 up && "
        "ip -n box route add default via 192.168.250.1 && sysctl -qw net.ipv4.ip_forward=1"
    )
    site.cluster.run("dgx01", "sh", "-c", script)
    try:
        with pytest.raises(ClusterError, match="Connection refused"):
            site.cluster.run("dgx01", "ip", "netns", "exec", "box", "/usr/bin/python3", "-c", fetch)
    finally:
        site.cluster.run("dgx01", "ip", "netns", "del", "box")
