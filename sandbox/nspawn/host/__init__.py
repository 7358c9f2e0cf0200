"""The lab's host: packages, package cache, wheelhouse, processes, free disk space."""
