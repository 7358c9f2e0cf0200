"""Attempts of a job to get more than its data class; it runs inside a job on a lab node and prints the answers as JSON.

python3 job_attempts.py FACTS: a JSON file with the variables of other jobs, the names of AWS resources and a job's number.
"""

import glob
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

with open(sys.argv[1]) as file:
    FACTS = json.load(file)
OWN = {name: os.environ[f"AWS_CONTAINER_{name}"] for name in ("CREDENTIALS_FULL_URI", "AUTHORIZATION_TOKEN")}
TOKEN_HEADER = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}
OPTIONS = Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=20)
FETCH = (
    "import urllib.request as u; print(u.urlopen(u.Request('http://169.254.169.254/latest/api/token', method='PUT', "
    "headers={'X-aws-ec2-metadata-token-ttl-seconds': '60'}), timeout=5).read().decode())"
)


def client(service):
    return boto3.client(service, config=OPTIONS)


def fetch(url, token=None, method="GET", headers=None):
    """Return the body of an answer, or the text of the refusal."""
    headers = dict(headers or {}, **({} if token is None else {"Authorization": token}))
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers, method=method), timeout=10) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode()}"
    except OSError as error:
        return f"{type(error).__name__}: {error}"


def call(function, **words):
    """Return `done`, or the error code of AWS."""
    try:
        function(**words)
        return "done"
    except ClientError as error:
        return error.response["Error"]["Code"]
    except BotoCoreError as error:
        return str(error)


def command(*words):
    """Return the output of a program, with its errors."""
    completed = subprocess.run(words, capture_output=True, text=True, check=False)
    return completed.stdout + completed.stderr


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError as error:
        return f"{type(error).__name__}: {error}"


def move(job):
    """Try to move this process into the control groups of another job."""
    answers = []
    for path in glob.glob(f"/sys/fs/cgroup/**/job_{job}/**/cgroup.procs", recursive=True):
        try:
            with open(path, "w") as file:
                file.write(str(os.getpid()))
            answers.append("done")
        except OSError as error:
            answers.append(type(error).__name__)
    return " ".join(sorted(set(answers)) or ["no control group"])


def main():
    partner, bob, bucket = FACTS["partner"], FACTS["bob"], FACTS["bucket"]
    s3, sts = client("s3"), client("sts")
    answers = {
        "own object written": call(s3.put_object, Bucket=bucket, Key="own", Body=b"x"),
        "own object read": call(s3.get_object, Bucket=bucket, Key="own"),
        "metadata": fetch("http://169.254.169.254/latest/api/token", method="PUT", headers=TOKEN_HEADER),
        "metadata by IPv6": fetch("http://[fd00:ec2::254]/latest/api/token", method="PUT", headers=TOKEN_HEADER),
        "metadata as root of a user namespace": command("unshare", "-Ur", sys.executable, "-c", FETCH),
        "address and token of another own job": fetch(partner["uri"], partner["token"]),
        "own address with the token of another own job": fetch(OWN["CREDENTIALS_FULL_URI"], partner["token"]),
        "address and token of another user's job": fetch(bob["uri"], bob["token"]),
        "own address without a token": fetch(OWN["CREDENTIALS_FULL_URI"]),
        "another class by its name": fetch(
            OWN["CREDENTIALS_FULL_URI"].rpartition("/jobs/")[0] + "/classes/partner", OWN["AUTHORIZATION_TOKEN"]
        ),
        "another class in the query": fetch(OWN["CREDENTIALS_FULL_URI"] + "?class=partner", OWN["AUTHORIZATION_TOKEN"]),
        "file of the own job": read(f"/run/landbridge/job-credentials/{os.environ['SLURM_JOB_ID']}.json"),
        "token file of another user": read(f"/var/lib/landbridge/jobs/{bob['job']}/.credentials-token"),
        "memory of the endpoint": read(f"/proc/{FACTS['endpoint']}/environ"),
        "control group of another own job": move(partner["job"]),
        "key of Slurm": read("/etc/munge/munge.key"),
        "secret of Slurm's key": call(client("secretsmanager").get_secret_value, SecretId=FACTS["secret"]),
        "role of another class": call(sts.assume_role, RoleArn=FACTS["roles"]["partner"], RoleSessionName="job-1"),
        "role of nodes": call(sts.assume_role, RoleArn=FACTS["roles"]["node"], RoleSessionName="job-1"),
        "object deleted": call(s3.delete_object, Bucket=bucket, Key="own"),
        "object of another class read": call(s3.get_object, Bucket=FACTS["other_bucket"], Key="x"),
        "object of another class written": call(s3.put_object, Bucket=FACTS["other_bucket"], Key="y", Body=b""),
        "bucket of another class listed": call(s3.list_objects_v2, Bucket=FACTS["other_bucket"]),
        "buckets listed": call(s3.list_buckets),
        "roles listed": call(client("iam").list_roles),
        "instance terminated": call(client("ec2").terminate_instances, InstanceIds=[FACTS["instance"]]),
    }
    print(json.dumps(answers))


main()
