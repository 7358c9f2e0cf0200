"""GPU health: observations, a pure state machine, its journal, and the programs that carry out its actions."""
