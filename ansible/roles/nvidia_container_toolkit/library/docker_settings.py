#!/usr/bin/python
"""Docker's daemon.json with devices by description (CDI) on, and NVIDIA's runtime not the default; all else as it is."""

from __future__ import annotations

DOCUMENTATION = """
module: docker_settings
short_description: Docker's settings for GPUs by CDI
description:
  - Turns the feature C(cdi) on and takes C(default-runtime) out where it is NVIDIA's. Everything else stays.
  - Does nothing where the host has neither the file nor Docker.
options:
  path: {type: path, required: true, description: Docker's settings.}
attributes: {check_mode: {support: full}, diff_mode: {support: full}}
author: landbridge
"""

import json
import os
import shutil
from typing import Any

from ansible.module_utils.basic import AnsibleModule


def wanted(found: dict[str, Any]) -> dict[str, Any]:
    """The settings as they should be. Source: dockerd(8), features and default-runtime; CDI is a feature since 25.0."""
    made = {**found, "features": {**found.get("features", {}), "cdi": True}}
    if made.get("default-runtime") == "nvidia":
        del made["default-runtime"]
    return made


def main() -> None:
    module = AnsibleModule(argument_spec={"path": {"type": "path", "required": True}}, supports_check_mode=True)
    path = module.params["path"]
    there = os.path.exists(path)
    if not there and shutil.which("dockerd", path="/usr/sbin:/usr/bin:/usr/local/bin") is None:
        module.exit_json(changed=False)
    text = ""
    if there:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    try:
        found = json.loads(text or "{}")
    except ValueError as error:
        module.fail_json(msg=f"{path} is no JSON: {error}")
    made = wanted(found)
    if made == found:
        module.exit_json(changed=False)
    written = json.dumps(made, indent=2) + "\n"
    if not module.check_mode:
        os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            file.write(written)
        os.chmod(f"{path}.new", 0o644)
        os.replace(f"{path}.new", path)
    module.exit_json(changed=True, diff={"before": text, "after": written, "before_header": path, "after_header": path})


if __name__ == "__main__":
    main()
