"""Findings about a cluster that runs already: what stands in the way of bursting, and what changes."""

from landbridge.existing_slurm.cluster import ExistingCluster
from landbridge.existing_slurm.obstacles.accounting import accounting_findings
from landbridge.existing_slurm.obstacles.addresses import address_findings
from landbridge.existing_slurm.obstacles.devices import device_findings
from landbridge.existing_slurm.obstacles.node_files import node_file_findings
from landbridge.existing_slurm.obstacles.nodes import node_findings
from landbridge.existing_slurm.obstacles.programs import program_findings
from landbridge.existing_slurm.obstacles.settings import setting_findings
from landbridge.existing_slurm.request import AdoptRequest
from landbridge.findings import Finding, in_order


def obstacles(cluster: ExistingCluster, request: AdoptRequest) -> tuple[Finding, ...]:
    """Return all findings, in the order of the files."""
    checks = (
        setting_findings,
        accounting_findings,
        program_findings,
        node_file_findings,
        node_findings,
        device_findings,
        address_findings,
    )
    return in_order(finding for check in checks for finding in check(cluster, request))
