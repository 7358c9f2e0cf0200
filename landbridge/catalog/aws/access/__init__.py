"""Readers of facts about access in AWS: IAM policies, guardrails, endpoint policies and service-linked roles."""
