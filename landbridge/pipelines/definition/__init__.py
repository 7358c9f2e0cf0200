"""Definition of pipelines: model, reading with findings, rules, and JSON Schema. Pure."""
