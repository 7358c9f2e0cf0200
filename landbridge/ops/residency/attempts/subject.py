"""Subject of the attempts: a data class that must stay on-prem, and the names of an environment that the attempts contain."""

from collections.abc import Mapping
from dataclasses import dataclass

from landbridge.catalog.residency_attempts import ResidencyAttempt
from landbridge.ops.residency.class_policy import class_policies
from landbridge.ops.residency.compiled import CompiledForms
from landbridge.ops.residency.iam_forms import ACCOUNT
from landbridge.plan.aws.storage.data_hub import bucket_prefix
from landbridge.plan.slurm.partitions import default_partition


@dataclass(frozen=True, slots=True)
class AttemptSubject:
    """Data class, an account of it, the users who are in this account only, and the words of the attempts in braces.

    `other_class`: a class that may be in AWS, with its bucket; empty without one.
    """

    data_class: str
    account: str
    users: frozenset[str]
    other_class: str
    words: Mapping[str, str]

    def text(self, template: str) -> str:
        """Return a text of an attempt with the names of the environment."""
        return template.format_map(self.words)

    def command(self, attempt: ResidencyAttempt) -> tuple[str, ...]:
        """Return the words of an attempt's command."""
        return tuple(map(self.text, attempt.command))


def attempt_subject(forms: CompiledForms) -> AttemptSubject | None:
    """Return the subject: the first class with an account that may be on-prem only; None without one."""
    environment, policies = forms.environment, class_policies(forms.environment)
    confined = [policy for policy in policies.values() if policy.locations == ("onprem",) and policy.accounts]
    if not confined:
        return None
    policy = confined[0]
    account = policy.accounts[0]
    of_others = {
        user
        for settings in environment.scheduler.accounts.values()
        if settings.data_class != policy.name
        for user in settings.users
    }
    in_aws = [name for name, other in policies.items() if other.regions]
    other_class = next((name for name in in_aws if f"bucket:{name}" in forms.buckets), "")
    by_sites = {form.sites: form.name for form in reversed(forms.partitions)}
    other_bucket = forms.buckets.get(f"bucket:{other_class}")
    cloud = by_sites.get(frozenset({"aws"}), "")
    words = {
        "class": policy.name,
        "account": account,
        "other_class": other_class,
        "other": next((name for settings in in_aws for name in policies[settings].accounts), ""),
        "cloud": cloud,
        "CLOUD": cloud.upper(),
        "mixed": default_partition(environment),
        "onprem": by_sites.get(frozenset({"onprem"}), ""),
        "node": "NODE",
        "job": "JOB",
        "reservation": "RESERVATION",
        "cluster": environment.name,
        "class_bucket": f"{bucket_prefix(environment.name, policy.name)}-{ACCOUNT}",
        "other_bucket": other_bucket.name if other_bucket is not None else "",
    }
    users = frozenset(environment.scheduler.accounts[account].users) - of_others
    return AttemptSubject(policy.name, account, users, other_class, words)
