"""Resource types of operations: CloudWatch logs, EventBridge rules, CloudTrail."""
