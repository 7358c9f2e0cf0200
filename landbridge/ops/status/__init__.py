"""State of a running environment in one page: facts of hosts, their judgement, and the list of what an operator has to do."""
