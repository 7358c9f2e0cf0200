"""Training jobs of SageMaker: job files, requests and the ledger."""
