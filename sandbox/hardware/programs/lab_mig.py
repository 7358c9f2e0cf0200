"""MIG of the nvidia-smi stand-in. Source: MIG user guide; outputs as recorded in public repositories.

Instance numbers are derived from size and start here; the real driver chooses them, so programs must not rely on them.
"""

import contextlib
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

# Under /run: MIG instances do not survive a reboot.
STATE = Path("/run/lab-mig.json")
CAPABILITIES = Path("/proc/driver/nvidia/capabilities")
DEVICES = Path("/dev/nvidia-caps")
# Device minors of one GPU: 15 instances, each with one minor and 8 for compute instances.
# Source: MIG user guide, mig-minors.
_FIRST_MINOR, _MINORS_PER_GPU, _MINORS_PER_INSTANCE = 3, 135, 9
_MAJOR, _MINOR_BASE = 195, 1000
_TUPLE = re.compile(r"([0-9]+g\.[0-9]+gb)(?::([0-7]))?")


def state():
    return json.loads(STATE.read_text()) if STATE.exists() else {}


def save(gpus_by_index):
    STATE.write_text(json.dumps(gpus_by_index))


def enabled(gpu):
    return state().get(str(gpu["index"]), {}).get("enabled", False)


def instances(gpu):
    """Return the GPU's MIG instances by number, in the order in which the driver lists them."""
    instances = state().get(str(gpu["index"]), {}).get("instances", {})
    return {int(number): instance for number, instance in sorted(instances.items(), key=lambda item: int(item[0]))}


def uuid(gpu, number):
    digits = hashlib.sha256(f"{gpu['uuid']}-{number}".encode()).hexdigest()
    return f"MIG-{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:32]}"


def lines(gpu):
    """Yield the lines that `-L` prints below a GPU."""
    for index, (number, instance) in enumerate(instances(gpu).items()):
        if instance["computes"]:
            yield f"  MIG {instance['profile']:<15} Device {index:>2}: (UUID: {uuid(gpu, number)})"


def switch(gpu, word):
    if not gpu["mig"]:
        print(
            f"Unable to enable MIG Mode for GPU {gpu['bus']}: Not Supported\nTreating as warning and moving on.\nAll done."
        )
        return 0
    if word not in ("0", "1"):
        print(f"Invalid MIG mode '{word}'")
        return 2
    gpus_by_index = state()
    if word == "0" and gpus_by_index.get(str(gpu["index"]), {}).get("instances"):
        print(f"Unable to disable MIG Mode for GPU {gpu['bus']}: In use by another client")
        return 19
    gpus_by_index[str(gpu["index"])] = {"enabled": word == "1", "instances": {}}
    save(gpus_by_index)
    print(f"{'Enabled' if word == '1' else 'Disabled'} MIG Mode for GPU {gpu['bus']}\nAll done.")
    return 0


def manage(words, gpus):
    """Run `nvidia-smi mig …` (-lgi, -cgi with -C, -dci, -dgi); return its exit code."""
    if words == ["-lgi"]:
        return listing(gpus)
    options, remaining = {}, list(words)
    while remaining:
        word = remaining.pop(0)
        if word in ("-i", "-cgi") and remaining:
            options[word] = remaining.pop(0)
        elif word in ("-C", "-dci", "-dgi"):
            options[word] = True
        else:
            print(f"Option \"{word}\" is not recognized. Please run 'nvidia-smi mig -h'.")
            return 2
    chosen = next((gpu for gpu in gpus if str(gpu["index"]) == options.get("-i")), None)
    if chosen is None:
        sys.exit("lab: instances are created and destroyed with -i, one GPU at a time")
    if not enabled(chosen):
        print(f"Unable to query GPU instances on GPU {chosen['index']}: Not Supported\nFailed: Not Supported")
        return 3
    if "-cgi" in options:
        return create(chosen, options["-cgi"], "-C" in options)
    gpus_by_index = state()
    instances = gpus_by_index[str(chosen["index"])]["instances"]
    if not instances:
        print("No GPU instances found: Not Found")
        return 6
    if "-dci" in options:
        for instance in instances.values():
            instance["computes"] = False
    elif any(instance["computes"] for instance in instances.values()):
        print(f"Unable to destroy GPU instance on GPU {chosen['index']}: In use by another client")
        return 19
    else:
        instances.clear()
    save(gpus_by_index)
    expose(chosen)
    print("Successfully destroyed")
    return 0


def listing(gpus):
    rows = [(gpu["index"], number, instance) for gpu in gpus for number, instance in instances(gpu).items()]
    if not rows:
        print("No GPU instances found: Not Found")
        return 6
    print("+-------------------------------------------------------+\n"
          "| GPU instances:                                        |\n"
          "| GPU   Name             Profile  Instance   Placement  |\n"
          "|                          ID       ID       Start:Size |\n"
          "|=======================================================|")  # fmt: skip
    for index, number, instance in rows:
        print(f"|{index:>4}  MIG {instance['profile']:<15}{19 - instance['size']:>4}{number:>9}{instance['start']:>11}:{instance['size']}     |\n"
              "+-------------------------------------------------------+")  # fmt: skip
    return 0


def create(gpu, text, computes):
    gpus_by_index = state()
    instances = gpus_by_index[str(gpu["index"])]["instances"]
    for word in text.split(","):
        match = _TUPLE.fullmatch(word)
        profile = gpu["mig"].get(match.group(1)) if match else None
        if match is None or profile is None:
            print(f"Unable to create a GPU instance on GPU {gpu['index']}: Invalid profile '{word}'")
            return 2
        occupied = {
            at
            for instance in instances.values()
            for at in range(instance["start"], instance["start"] + instance["size"])
        }
        free = [at for at in profile["starts"] if occupied.isdisjoint(range(at, at + profile["size"]))]
        start = int(match.group(2)) if match.group(2) else free[0] if free else None
        if start not in free:
            print(f"Unable to create a GPU instance on GPU {gpu['index']} using profile {word}: Insufficient Resources")
            return 19
        number = {8: 0, 4: 1, 2: 3, 1: 7}[profile["size"]] + profile["starts"].index(start)
        instances[str(number)] = {
            "profile": match.group(1),
            "start": start,
            "size": profile["size"],
            "computes": computes,
        }
        print(
            f"Successfully created GPU instance ID {number:>2} on GPU {gpu['index']:>2} using profile MIG {match.group(1)}"
        )
    save(gpus_by_index)
    expose(gpu)
    return 0


def expose(gpu):
    """Create the driver's folder of capabilities and their device files."""
    if not CAPABILITIES.exists():
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "lab", "/proc/driver"], check=True)
    root = CAPABILITIES / f"gpu{gpu['index']}/mig"
    for number in instances(gpu):
        first = _FIRST_MINOR + gpu["index"] * _MINORS_PER_GPU + number * _MINORS_PER_INSTANCE
        for folder, minor in ((f"gi{number}", first), (f"gi{number}/ci0", first + 1)):
            path = root / folder / "access"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"DeviceFileMinor: {minor}\nDeviceFileMode: 444\nDeviceFileModify: 1\n")
            device = DEVICES / f"nvidia-cap{minor}"
            DEVICES.mkdir(exist_ok=True)
            if not device.exists():
                os.mknod(device, 0o666 | 0o020000, os.makedev(_MAJOR, _MINOR_BASE + minor))


def as_xml(gpus, replays):
    """Print the output of `-q -x`, with the elements about MIG, processes and PCIe replays."""
    print('<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">\n<nvidia_smi_log>\n'
          f"\t<attached_gpus>{len(gpus)}</attached_gpus>")  # fmt: skip
    for gpu in gpus:
        mode = ("Enabled" if enabled(gpu) else "Disabled") if gpu["mig"] else "N/A"
        devices = "".join(
            f"<mig_device><index>{index}</index><gpu_instance_id>{number}</gpu_instance_id>"
            "<compute_instance_id>0</compute_instance_id></mig_device>"
            for index, (number, instance) in enumerate(instances(gpu).items())
            if instance["computes"]
        )
        print(f'\t<gpu id="{gpu["bus"]}">\n\t\t<product_name>{gpu["name"]}</product_name>\n'
              f"\t\t<mig_mode><current_mig>{mode}</current_mig><pending_mig>{mode}</pending_mig></mig_mode>\n"
              f"\t\t<mig_devices>{devices or 'None'}</mig_devices>\n\t\t<uuid>{gpu['uuid']}</uuid>\n"
              f"\t\t<minor_number>{gpu['index']}</minor_number>\n"
              f"\t\t<pci><replay_counter>{replays.get(str(gpu['index']), 0)}</replay_counter></pci>\n"
              f"\t\t<processes>{processes(gpu)}</processes>\n\t</gpu>")  # fmt: skip
    print("</nvidia_smi_log>")
    return 0


def processes(gpu):
    """Return processes of this machine that have the GPU's device file open."""
    return "".join(
        f"<process_info><pid>{pid}</pid></process_info>"
        for pid in filter(str.isdecimal, os.listdir("/proc"))
        for path in open_files(pid)
        if path == f"/dev/nvidia{gpu['index']}"
    )


def open_files(pid):
    """Return the files that a process has open; none of a process that has ended."""
    files = []
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                files.append(os.readlink(f"/proc/{pid}/fd/{name}"))
    return files
