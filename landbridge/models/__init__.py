"""Models: manifests, formats, names, aliases, signatures, canary decisions and drift; pure functions."""
