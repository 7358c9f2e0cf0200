"""The emulated AWS: moto's control plane, made strict where nodes are launched, with metadata service and node launchers."""
