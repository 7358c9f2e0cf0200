#!/usr/bin/python
"""Ansible module for Docker's daemon.json: enables CDI, and removes NVIDIA's runtime as the default."""

from __future__ import annotations

DOCUMENTATION = """
module: docker_settings
short_description: Docker's settings for GPUs by CDI
description:
  - Enables the feature C(cdi) and removes C(default-runtime) if it is NVIDIA's. Other settings stay unchanged.
  - Does nothing if the host has neither the file nor Docker.
options:
  path: {type: path, required: true, description: Docker's settings file.}
attributes: {check_mode: {support: full}, diff_mode: {support: full}}
author: landbridge
"""

import json
import os
import shutil
from typing import Any

from ansible.module_utils.basic import AnsibleModule


def changed_settings(present: dict[str, Any]) -> dict[str, Any]:
    """Return the changed settings. Source: dockerd(8), features and default-runtime; CDI is a feature since 25.0."""
    settings = {**present, "features": {**present.get("features", {}), "cdi": True}}
    if settings.get("default-runtime") == "nvidia":
        del settings["default-runtime"]
    return settings


def main() -> None:
    module = AnsibleModule(argument_spec={"path": {"type": "path", "required": True}}, supports_check_mode=True)
    path = module.params["path"]
    exists = os.path.exists(path)
    if not exists and shutil.which("dockerd", path="/usr/sbin:/usr/bin:/usr/local/bin") is None:
        module.exit_json(changed=False)
    text = ""
    if exists:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    try:
        present = json.loads(text or "{}")
    except ValueError as error:
        module.fail_json(msg=f"{path} is not JSON: {error}")
    settings = changed_settings(present)
    if settings == present:
        module.exit_json(changed=False)
    written = json.dumps(settings, indent=2) + "\n"
    if not module.check_mode:
        os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            file.write(written)
        os.chmod(f"{path}.new", 0o644)
        os.replace(f"{path}.new", path)
    module.exit_json(changed=True, diff={"before": text, "after": written, "before_header": path, "after_header": path})


if __name__ == "__main__":
    main()
