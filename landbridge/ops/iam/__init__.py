"""Pure evaluation of IAM policies, for tests and for explanations; it makes no call.

It implements the IAM User Guide's "Policy evaluation logic" and "IAM JSON policy element reference". It does not
contain the additional checks of services, and AWS may decide differently; `preflight` queries AWS itself.
"""

from landbridge.ops.iam.evaluate import Answer, Decision, Document, Policies, Request, evaluate

__all__ = ["Answer", "Decision", "Document", "Policies", "Request", "evaluate"]
