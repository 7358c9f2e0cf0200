"""The pack's program. Constructing the pack starts its server and does not return."""

from pulumi_policy import PolicyPack

from components.policy.pack import policies

PolicyPack("landbridge", policies())
