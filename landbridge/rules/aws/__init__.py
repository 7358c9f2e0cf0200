"""Rules about the AWS account: IAM, guardrails, budgets, logs, tags and managed services."""
