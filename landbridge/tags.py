"""Tag keys of the cluster's AWS resources. The Lambda function `guard/reaper.py` is one file and repeats three of them."""

PREFIX = "landbridge:"

NAME = "Name"
CLUSTER = f"{PREFIX}cluster"
OWNER = f"{PREFIX}owner"
COST_CENTER = f"{PREFIX}cost-center"
DATA_CLASS = f"{PREFIX}data-class"
POOL = f"{PREFIX}pool"

#: Use of a host of serving, and its value for hosts that the model gateway starts and stops.
SERVING, MODEL_SERVER = f"{PREFIX}serving", "model-server"
#: Host list of all nodes of a launch; an instance's launch index is its node's position.
NODES = f"{PREFIX}nodes"
#: Node of one instance, if NODES does not give it.
NODE = f"{PREFIX}node"
#: ClientToken of the launch call.
LAUNCH = f"{PREFIX}launch"
#: Ids of the jobs for which an instance was launched, or the name of a training job.
JOB = f"{PREFIX}job"
#: Slurm account of those jobs.
ACCOUNT = f"{PREFIX}account"
#: User who submitted a training job of SageMaker.
USER = f"{PREFIX}user"
#: Time in ISO 8601 after which the instance may be terminated.
LEASE_EXPIRES = f"{PREFIX}lease-expires"

#: Tags that the burst controller gives every instance that it launches.
OF_INSTANCES = (NAME, POOL, NODES, LAUNCH, JOB, ACCOUNT, LEASE_EXPIRES, DATA_CLASS, COST_CENTER)
