"""Daemon of the burst controller: reconcile passes, execution of their actions, metrics and systemd notification."""
