"""The embedded level: the demonstration on machines where no lab can run."""
