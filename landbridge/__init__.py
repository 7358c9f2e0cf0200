"""Landbridge: one GPU cluster out of an organisation's own machines and its AWS account."""
