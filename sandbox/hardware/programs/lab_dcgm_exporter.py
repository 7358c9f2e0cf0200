#!/usr/bin/python3 -IB
"""Stand-in of dcgm-exporter: --collectors FILE --address ADDRESS --web-config-file FILE, over TLS with an account.

Each GPU has the metrics of the file, with labels as of dcgm-exporter 4.8; values follow the faults of the machine. A restart forgets Xids, as a new host
engine does. Source: NVIDIA/dcgm-exporter, internal/pkg/collector/gpu_collector.go; exporter-toolkit, "Web configuration".
"""

import argparse
import base64
import ctypes
import re
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, "/usr/local/lib/lab/hardware")
import lab_hardware  # type: ignore[import-not-found]

KERNEL_LOG = Path("/dev/kmsg")
XIDS = {0: "No Error", 48: "Double Bit ECC Error", 79: "GPU has fallen off the bus"}
NORMAL = {"GPU_TEMP": 45, "MEMORY_TEMP": 50, "POWER_USAGE": 70, "SM_CLOCK": 1980, "MEM_CLOCK": 2619}


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name in ("collectors", "address", "web-config-file"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    rows = [
        line.split(", ", 2) for line in Path(options.collectors).read_text().splitlines() if line[:1] not in ("", "#")
    ]
    web = dict(re.findall(r"^ +([\w-]+): +\"?([^\s\"]+)", Path(options.web_config_file).read_text(), re.MULTILINE))
    account, encoded = next((name, value) for name, value in web.items() if value.startswith("$2"))
    crypt = ctypes.CDLL("libcrypt.so.1").crypt
    crypt.restype = ctypes.c_char_p
    begun = len(kernel_log())
    accepted = set()

    def permitted(header):
        if header in accepted:
            return True
        name, _, password = base64.b64decode((header or "").removeprefix("Basic ")).decode().partition(":")
        same = name == account and crypt(password.encode(), encoded.encode()) == encoded.encode()
        if same:
            accepted.add(header)
        return same

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            status = 200 if permitted(self.headers["Authorization"]) else 401
            body = text(rows, begun).encode() if status == 200 else b"Unauthorized\n"
            self.send_response(status if self.path == "/metrics" or status == 401 else 404)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    host, _, port = options.address.rpartition(":")
    server = ThreadingHTTPServer((host, int(port)), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(web["cert_file"], web["key_file"])
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.serve_forever()


def kernel_log():
    return KERNEL_LOG.read_text().splitlines() if KERNEL_LOG.is_file() else []


def text(rows, begun):
    machine, faults = lab_hardware.machine(), lab_hardware.faults()
    reported = [re.search(r"Xid \(PCI:([0-9a-f:]+)[^)]*\): (\d+)", line) for line in kernel_log()[begun:]]
    xids = {match[1]: int(match[2]) for match in reported if match}
    lines = []
    for field, kind, description in rows:
        lines += [f"# HELP {field} {description}", f"# TYPE {field} {kind}"]
        for index, gpu in enumerate(machine["gpus"]):
            if index in faults["absent"] or index in faults["lost"]:
                continue
            number = xids.get(gpu["bus"][4:14].lower(), 0)
            labels = {
                "gpu": index,
                "UUID": gpu["uuid"],
                "pci_bus_id": gpu["bus"],
                "device": f"nvidia{index}",
                "modelName": gpu["name"],
                "Hostname": Path("/etc/hostname").read_text().strip(),
            }
            if field == "DCGM_FI_DEV_XID_ERRORS":
                labels |= {"err_code": number, "err_msg": XIDS.get(number, "Unknown Error")}
            words = ",".join(f'{name}="{value}"' for name, value in labels.items())
            lines.append(f"{field}{{{words}}} {value_of(field, index, number, faults)}")
    return "\n".join([*lines, ""])


def value_of(field, index, number, faults):
    name, key = field.removeprefix("DCGM_FI_DEV_"), str(index)
    utilisation, memory, power = faults["use"].get(key, [0, 0, 70])
    values = {
        "XID_ERRORS": number,
        "GPU_TEMP": 93 if index in faults["thermal"] else 45,
        "GPU_UTIL": utilisation,
        "FB_USED": memory,
        "POWER_USAGE": power,
        "ECC_DBE_VOL_TOTAL": faults["uncorrected"].get(key, 0),
        "ROW_REMAP_FAILURE": int(index in faults["unremapped"]),
        "PCIE_REPLAY_COUNTER": faults["replays"].get(key, 0),
        "NVLINK_REPLAY_ERROR_COUNT_TOTAL": faults["link_errors"].get(key, 0),
    }
    return values.get(name, NORMAL.get(name, 0))


if __name__ == "__main__":
    main()
