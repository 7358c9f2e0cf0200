"""Economics of owned and rented GPUs: total cost, break-even, the cheapest mix, the assessment, published models. Pure."""
