"""Instance life cycle: state changes, the machines of instances, and the instance metadata service."""
