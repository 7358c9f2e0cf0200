"""The pack's program. Constructing the pack starts its server and does not return."""

import sys
from pathlib import Path

from pulumi_policy import PolicyPack

# Landbridge is the checkout that this folder is in; the folder's own environment has only what policies need.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

# Not `components.policy.pack`: that would import every component, and with them all of pulumi_aws.
from pack import policies

PolicyPack("landbridge", policies())
