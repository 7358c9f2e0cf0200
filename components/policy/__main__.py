"""Program of the policy pack. The constructor of PolicyPack starts the server and does not return."""

import sys
from pathlib import Path

from pulumi_policy import PolicyPack

# Import landbridge from this checkout: the pack's virtual environment has only the dependencies of the policies.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

# Not `components.policy.pack`: that would import all components and pulumi_aws.
from pack import policies

PolicyPack("landbridge", policies())
