"""Facts about served models."""
