"""Resource types of identity: IAM, Roles Anywhere, hybrid activations, KMS, Secrets Manager."""
