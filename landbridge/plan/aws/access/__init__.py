"""Plan of access in AWS: IAM roles, policies and identities."""
