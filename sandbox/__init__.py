"""Stand-ins with which one machine runs both sites: lab, emulated AWS, Pulumi's providers and language host."""
