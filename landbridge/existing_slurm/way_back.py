"""Steps that remove Landbridge from a cluster that runs already, as text."""

from collections.abc import Iterable

from landbridge.existing_slurm.cluster import ExistingCluster
from landbridge.existing_slurm.hosts import controllers
from landbridge.existing_slurm.request import AdoptRequest

_TEXT = """# The way back: {cluster} without Landbridge

Run these steps in this order. Jobs on nodes of the site continue.

1. Let no more jobs start in AWS, and wait until the jobs there have ended:

       scontrol update PartitionName={partitions} State=DRAIN        # one command for each partition
       squeue --partition={partitions}

2. End all instances, and wait until none is left:

       scontrol update NodeName={nodes} State=POWER_DOWN_FORCE
       landbridge burst status

3. On every controller ({controllers}), in the folder of slurm.conf ({folder}):

       patch -R -p1 < slurm.diff
       rm -f {files}

   Remove the lines of landbridge-hosts from /etc/hosts there.
   Distribute the files as you did before, then restart slurmctld, because removed nodes need it:

       systemctl restart slurmctld
       scontrol reconfigure

4. On every controller, remove the burst controller:

       systemctl disable --now landbridge-burst
       rm -rf /etc/systemd/system/landbridge-burst.service /etc/landbridge /var/lib/landbridge /opt/landbridge
       systemctl daemon-reload

5. On the operator's machine, delete what is in AWS. Data in the data hub is protected and stays:

       landbridge down -s {name}

6. Switch off the gateway {gateway}, and remove the routes to {aws_cidr} and the firewall rules of your site.
"""


def way_back(cluster: ExistingCluster, request: AdoptRequest, files: Iterable[str]) -> str:
    """Return the steps for this cluster; `files` are those beside slurm.conf."""
    folder = cluster.conf.rpartition("/")[0] or "."
    return _TEXT.format(
        cluster=cluster.value("ClusterName", "the cluster"),
        partitions=",".join(pool.name for pool in request.pools),
        nodes=",".join(f"{pool.name}-[1-{pool.max_nodes}]" for pool in request.pools),
        controllers=", ".join(controllers(cluster)),
        folder=folder,
        files=" ".join(files),
        name=request.name,
        gateway=request.gateway,
        aws_cidr=request.aws_cidr,
    )
