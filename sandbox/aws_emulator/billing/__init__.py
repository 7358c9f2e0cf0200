"""Billing services that moto does not have: Cost Explorer and budget actions."""
