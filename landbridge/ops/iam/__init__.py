"""Pure evaluation of IAM policies, for tests and for explanations; it makes no call.

What it knows is what IAM User Guide's "Policy evaluation logic" and "IAM JSON policy element reference" say. It does not
know what a service checks besides, and it is no proof of what AWS will do; `preflight` asks AWS itself.
"""

from landbridge.ops.iam.evaluate import Answer, Decision, Document, Policies, Request, evaluate

__all__ = ["Answer", "Decision", "Document", "Policies", "Request", "evaluate"]
