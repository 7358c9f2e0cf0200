#!/usr/bin/python3
"""Ansible module that checks whether a SPANK plugin was built for the Slurm release on this host. Changes nothing."""

import re
import struct
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: spank_plugin
short_description: Check that a SPANK plugin was built for the Slurm release on this host
description:
  - Slurm fails every job if a plugin that plugstack.conf requires was built for another release of Slurm. A package of
    the plugin need not contain the release for which it was built; the plugin's file does.
  - Reads the release from the file and from a command of Slurm, and compares both like Slurm, without the last number.
options:
  path: {description: The plugin., type: path, required: true}
  commands: {description: Commands of Slurm with -V; the first that exists is run., type: list, elements: path}
author: Landbridge
"""
RETURN = """
plugin: {description: The release that the plugin was built for., type: str, returned: always}
slurm: {description: The release on this host; empty if Slurm is not installed yet., type: str, returned: always}
"""
_LOAD, _DYNAMIC = 1, 2
_STRTAB, _SYMTAB, _STRSZ = 5, 6, 10


class NotAPlugin(Exception):
    """Error: the file is not a SPANK plugin."""


def built_for(data):
    """Return the release in a plugin's file, such as 26.05. Raises NotAPlugin.

    Source: elf(5); slurm/spank.h (plugin_version is SLURM_VERSION_NUMBER) and slurm/slurm_version.h (a byte for each part).
    """
    if data[:6] != b"\x7fELF\x02\x01":
        raise NotAPlugin("it is not a 64-bit ELF file")
    try:
        number = struct.unpack_from("<I", data, _offset_of(data, b"plugin_version"))[0]
    except struct.error:
        raise NotAPlugin("it is truncated") from None
    return f"{number >> 16 & 0xFF}.{number >> 8 & 0xFF:02}"


def _offset_of(data, symbol):
    """Return the file offset of an exported symbol's value."""
    start, size, count = *struct.unpack_from("<Q", data, 32), *struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<IIQQQQQQ", data, start + index * size) for index in range(count)]

    def in_file(address):
        for kind, _, offset, virtual, _, length, _, _ in segments:
            if kind == _LOAD and virtual <= address < virtual + length:
                return address - virtual + offset
        raise NotAPlugin("it contains an invalid address")

    tags = {}
    for kind, _, offset, _, _, length, _, _ in segments:
        if kind == _DYNAMIC:
            for at in range(offset, offset + length, 16):
                tag, value = struct.unpack_from("<QQ", data, at)
                tags.setdefault(tag, value)
    if not {_STRTAB, _SYMTAB, _STRSZ} <= set(tags):
        raise NotAPlugin("it exports no symbols")
    names, symbols = in_file(tags[_STRTAB]), in_file(tags[_SYMTAB])
    # Linkers put the names after the symbols; the number of symbols is not stored elsewhere.
    for at in range(symbols, names, 24):
        name, _, _, section, address, _ = struct.unpack_from("<IBBHQQ", data, at)
        if section and name < tags[_STRSZ] and data[names + name : names + name + len(symbol) + 1] == symbol + b"\0":
            return in_file(address)
    raise NotAPlugin("it has no plugin_version: it is not a SPANK plugin")


def main():
    module = AnsibleModule(
        argument_spec={"path": {"type": "path", "required": True}, "commands": {"type": "list", "elements": "path"}},
        supports_check_mode=True,
    )
    path, slurm = Path(module.params["path"]), ""
    commands = module.params["commands"] or ["/usr/sbin/slurmd", "/usr/bin/srun"]
    for command in commands:
        if Path(command).exists():
            _, output, _ = module.run_command([command, "-V"])
            match = re.search(r"\b(\d\d\.\d\d)\.", output)
            slurm = match.group(1) if match else ""
            break
    if not path.exists():
        if module.check_mode:
            module.exit_json(changed=False, plugin="", slurm=slurm)
        module.fail_json(msg=f"{path} does not exist: the plugin's package is not installed", plugin="", slurm=slurm)
    try:
        plugin = built_for(path.read_bytes())
    except NotAPlugin as error:
        module.fail_json(msg=f"{path}: {error}", plugin="", slurm=slurm)
    if slurm and plugin != slurm:
        module.fail_json(
            msg=f"{path} was built for Slurm {plugin}, and this host has {slurm}: every job on it would fail. "
            f"Install the plugin's package that was built for {slurm}",
            plugin=plugin,
            slurm=slurm,
        )
    module.exit_json(changed=False, plugin=plugin, slurm=slurm)


if __name__ == "__main__":
    main()
