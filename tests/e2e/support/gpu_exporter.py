"""Stand-in of dcgm-exporter on a GPU node of the tests' cluster, whose driver is preinstalled: a lab has no package of NVIDIA's exporter that reads GPUs."""

from importlib.resources import files

from landbridge.plan.network.services.monitoring import exporter_port
from landbridge.plan.roles.nodes.dcgm_exporter import counters
from sandbox.hardware import faults
from tests.e2e.support.monitored_site import MonitoredSite

NODE, UNIT = "dgx01", "nvidia-dcgm-exporter"
PROGRAM, COUNTERS = "/usr/local/lib/lab/hardware/lab_dcgm_exporter.py", "/etc/dcgm-exporter/landbridge.csv"


def start(site: MonitoredSite) -> None:
    """Install and start the exporter with the arguments of the role dcgm_exporter."""
    content = (files("sandbox.hardware") / "programs" / "lab_dcgm_exporter.py").read_bytes()
    rows = "".join(f"{row['field']}, {row['type']}, {row['help']}\n" for row in counters())
    site.deployment.cluster.put(NODE, PROGRAM, content, "root")
    site.deployment.cluster.put(NODE, COUNTERS, rows.encode(), "root")
    faults.inject(site.deployment.lab, NODE)
    options = f"--collectors {COUNTERS} --address 0.0.0.0:{exporter_port('dcgm')} --web-config-file /etc/landbridge/metrics/web.yml"
    lines = ["[Service]", f"ExecStart=/usr/bin/python3 -IB {PROGRAM} {options}", "Restart=always", ""]
    site.deployment.cluster.put(NODE, f"/etc/systemd/system/{UNIT}.service", "\n".join(lines).encode(), "root")
    site.run(NODE, f"systemctl daemon-reload; systemctl restart {UNIT}")


def remove(site: MonitoredSite) -> None:
    """Stop and remove the exporter."""
    faults.inject(site.deployment.lab, NODE)
    site.run(NODE, f"systemctl stop {UNIT}; rm -f /etc/systemd/system/{UNIT}.service; systemctl daemon-reload")
