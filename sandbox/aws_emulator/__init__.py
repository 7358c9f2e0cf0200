"""Emulated AWS: moto's control plane with strict checks of launches, a metadata service and node launchers."""
