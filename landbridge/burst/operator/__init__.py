"""Operator commands of the burst controller: status, why, doctor and edits of its journal."""
