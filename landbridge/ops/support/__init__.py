"""Support bundle: what a support engineer asks for, without secrets and without data of restricted classes."""
