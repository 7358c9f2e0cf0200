"""Certificates of on-prem hosts for IAM Roles Anywhere: the environment's CA, and the certificates that it has issued."""
