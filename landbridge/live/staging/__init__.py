"""Mover: the service that copies the data of held jobs to where the jobs run."""
