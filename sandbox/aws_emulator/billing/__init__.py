"""Billing beyond moto: Cost Explorer and budget actions."""
