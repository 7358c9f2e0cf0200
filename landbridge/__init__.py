"""Landbridge: one GPU cluster from an organisation's on-prem machines and its AWS account."""
