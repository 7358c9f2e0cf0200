"""Billing services that moto does not have: Cost Explorer, budget actions, price list, Savings Plans."""
