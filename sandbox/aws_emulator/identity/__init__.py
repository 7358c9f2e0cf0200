"""Identity services: access keys, IAM actions and managed policies, Roles Anywhere, hybrid activations."""
