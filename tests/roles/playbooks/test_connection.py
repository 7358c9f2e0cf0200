"""Options with which Ansible starts ssh, as OpenSSH reads them."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_a_site_with_kerberos_can_log_in(tmp_path: Path) -> None:
    """Without a ticket OpenSSH tries keys next; without a password in the inventory it never asks for one."""
    recorded, program = tmp_path / "words", tmp_path / "ssh"
    # In place of ssh: writes its arguments and ends as ssh does without a connection.
    program.write_text(f'#!/bin/sh\nfor word; do printf "%s\\0" "$word"; done > {recorded}\nexit 255\n')
    program.chmod(0o755)
    settings = {"ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_SSH_EXECUTABLE": str(program)}
    settings |= {"ANSIBLE_SSH_RETRIES": "0", "ANSIBLE_INVENTORY_ENABLED": "host_list"}
    ansible = str(Path(sys.executable).with_name("ansible"))
    line = [ansible, "all", "-i", "login1.example.org,", "-m", "ansible.builtin.raw", "-a", "true"]
    subprocess.run(line, env={**os.environ, **settings}, capture_output=True, check=False)
    words = recorded.read_text().split("\0")[:-1]
    # ssh -G prints the settings that result from the options, without a connection.
    read = ["ssh", "-F", "/dev/null", "-o", "GSSAPIAuthentication=yes", "-G", *words]
    done = subprocess.run(read, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{shlex.join(read)}\n{done.stderr}"
    values = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    methods = values["preferredauthentications"].split(",")
    assert "gssapi-with-mic" in methods and "publickey" in methods
    assert "password" not in methods and values["passwordauthentication"] == "no"
