"""Components of governance: alarms, CloudTrail trail, VPC flow logs, guardrails and the reaper."""
