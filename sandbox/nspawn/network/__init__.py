"""The lab's networks: bridges, network namespaces, the relay to the host, packet capture, SSH."""
