"""Dashboards as JSON for the import of Grafana, with the same queries as the pages of the site's Prometheus."""
