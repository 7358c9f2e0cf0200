"""Service of the model gateway: it follows the aliases of the registry, makes steps of canaries, and exports model folders to model servers."""
