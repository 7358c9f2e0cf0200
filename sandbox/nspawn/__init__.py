"""Lab machines: systemd-nspawn containers with a real systemd and sshd, in network namespaces without a route outside."""
