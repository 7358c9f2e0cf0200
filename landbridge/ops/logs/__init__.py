"""Search of the logs of an environment's hosts. The logs stay where they are: no log leaves its site."""
