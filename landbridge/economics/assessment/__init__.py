"""Assessment of an organisation: from answers about its work, data and people to an architecture and a phased path."""
