"""Resource types of billing: budgets and Cost Explorer."""
