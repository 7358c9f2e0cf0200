"""Configuration file of the burst controller: its typed model and its reader."""
