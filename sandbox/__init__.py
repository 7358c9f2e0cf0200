"""Stand-ins that let one machine play both sites: the lab, the emulated AWS and Pulumi's provider side."""
