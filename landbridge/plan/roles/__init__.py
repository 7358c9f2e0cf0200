"""Roles of Ansible: one module for each role of ansible/roles, with its hosts, variables and connections (plan/network/host_role.py).

The modules of this folder define inventory groups, and the others are in the folders below it. Every command asks for the groups: plans that
a module needs for its variables alone are imported in its functions.
"""
