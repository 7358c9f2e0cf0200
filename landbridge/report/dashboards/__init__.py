"""Dashboards of Grafana from a typed description: JSON to import, with the same queries as any Prometheus answers."""
