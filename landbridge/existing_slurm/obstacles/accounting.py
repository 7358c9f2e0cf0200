"""Findings about accounts: data classes and budgets belong to accounts, so Slurm must verify a job's account."""

from collections.abc import Iterator

from landbridge.existing_slurm.cluster import ExistingCluster, placed
from landbridge.existing_slurm.request import AdoptRequest
from landbridge.findings import Finding, Severity

#: Values of AccountingStorageEnforce that include associations. Source: slurm.conf(5), AccountingStorageEnforce.
_ENFORCING = frozenset({"associations", "limits", "qos", "safe", "wckeys", "all", "1"})
#: The other values.
_OTHER = frozenset({"none", "nojobs", "nosteps", "0"})


def accounting_findings(cluster: ExistingCluster, request: AdoptRequest) -> Iterator[Finding]:
    """Yield the findings about accounting and job submission."""
    storage = cluster.value("AccountingStorageType", "accounting_storage/none").casefold()
    if storage != "accounting_storage/slurmdbd":
        message = "without slurmdbd Slurm knows no accounts: data classes and budgets of jobs in AWS belong to accounts"
        fix = "configure AccountingStorageType=accounting_storage/slurmdbd"
        yield placed("no-accounting", Severity.ERROR, cluster.at("AccountingStorageType"), message, fix)
    elif _ENFORCING.isdisjoint(cluster.words("AccountingStorageEnforce")):
        message = (
            "AccountingStorageEnforce lacks associations: a user may give any account, and with it another data class"
        )
        fix = "set AccountingStorageEnforce=associations,limits,qos,safe; all users then need an association first"
        yield placed("accounts-not-enforced", Severity.WARNING, cluster.at("AccountingStorageEnforce"), message, fix)
    if unknown := sorted(set(cluster.words("AccountingStorageEnforce")) - _ENFORCING - _OTHER):
        message = f"AccountingStorageEnforce has {', '.join(unknown)}, which is no word of Slurm, and has no effect"
        fix = f"use words of these: {', '.join(sorted(_ENFORCING | _OTHER))}"
        yield placed("enforcement-word", Severity.WARNING, cluster.at("AccountingStorageEnforce"), message, fix)
    if not request.accounts:
        message = "no account was given: the burst controller starts no instance for a job of an unknown account"
        fix = "give --account NAME for each account whose jobs may run in AWS"
        yield placed("no-account", Severity.ERROR, cluster.at("AccountingStorageEnforce"), message, fix)
    plugins = cluster.pair("JobSubmitPlugins")
    if plugins is not None:
        message = (
            f"JobSubmitPlugins={plugins.value} stays as it is; it must not move jobs of other accounts into partitions "
            "of the pools"
        )
        fix = "the burst controller refuses such jobs, and users see RESIDENCY in the job's comment"
        yield placed("job-submit-plugin", Severity.INFO, plugins.at, message, fix)
