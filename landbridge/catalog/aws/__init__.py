"""Readers of AWS facts: regions, instance types, limits, prices, storage, IAM and images."""
