"""Lab machines: systemd-nspawn containers with a real systemd and sshd, in network namespaces with no way out."""
