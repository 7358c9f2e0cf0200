"""Evaluation of a request that presents several resources: IAM has to allow its action on each of them.

Source: IAM User Guide, "Policy evaluation logic"; Service Authorization Reference, "Actions defined by Amazon EC2": each
required resource type of an action, and each optional one that the request contains.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from landbridge.ops.iam.evaluate import Decision, Policies, Request, evaluate
from landbridge.ops.iam.match import Context


@dataclass(frozen=True, slots=True)
class PresentedResource:
    """Resource of a request, with the condition keys that the service presents for it."""

    arn: str
    context: Context = field(default_factory=dict)


def evaluate_whole(request: Request, resources: Iterable[PresentedResource], policies: Policies) -> Decision:
    """Evaluate a request on all its resources: the first refusal, else the last allowance. `request.context` has the
    keys of every resource; `request.resource` is not used. Raises ValueError for a request without a resource.
    """
    decision: Decision | None = None
    for resource in resources:
        decision = evaluate(
            replace(request, resource=resource.arn, context={**request.context, **resource.context}), policies
        )
        if not decision.allowed:
            return replace(decision, why=f"{resource.arn}: {decision.why}")
    if decision is None:
        raise ValueError(f"{request.action} presents no resource")
    return decision
