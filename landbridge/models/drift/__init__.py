"""Drift: distributions of features and confidence against the reference of the training data, and the model's estimated accuracy. Pure."""
