"""Plan of serving: settings and command lines of model servers, and the configuration of the model gateway."""
