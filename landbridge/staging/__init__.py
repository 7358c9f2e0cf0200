"""Staging of the data that jobs state: their form in a job, and the exchange of burst controller and mover. Standard library only."""
