"""Mistakes with pools of Trainium."""

from tests.unit.rules.row import Row

POOL = ("aws", "pools", 0)
TRAINIUM = {(*POOL, "instance"): "trn1.32xlarge", (*POOL, "capacity"): [{"kind": "on_demand", "zones": ["use1-az4"]}]}
DLAMI = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id"

ROWS = [
    Row("neuron-image", "a build on the default parent for Trainium", {**TRAINIUM, (*POOL, "image"): "node", ("aws", "images"): {"node": {"build": {}}}}, (*POOL, "image"), "Neuron DLAMI"),
    Row("neuron-image", "a build on NVIDIA's image for Trainium", {**TRAINIUM, (*POOL, "image"): "node", ("aws", "images"): {"node": {"build": {"parent": "base"}}, "base": {"parameter": DLAMI}}}, (*POOL, "image"), "no Neuron driver"),
]  # fmt: skip
