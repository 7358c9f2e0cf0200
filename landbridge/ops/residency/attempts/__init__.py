"""Attempts to compute or store on-prem data in AWS, evaluated layer by layer over an environment's compiled forms."""

from landbridge.ops.residency.attempts.evaluate import AttemptResult, LayerAnswer, evaluate_attempts
from landbridge.ops.residency.attempts.subject import AttemptSubject, attempt_subject

__all__ = ["AttemptResult", "AttemptSubject", "LayerAnswer", "attempt_subject", "evaluate_attempts"]
