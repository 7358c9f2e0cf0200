"""Economics of owned and rented GPUs: total cost, break-even, the cheapest mix, and the assessment. Pure."""
