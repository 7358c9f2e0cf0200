"""Daemon of the burst controller: reconcile passes, their execution, metrics and systemd notification."""
