"""Lab nodes: systemd-nspawn containers, their images, control groups and hardware."""
