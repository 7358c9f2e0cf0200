"""Economics of owned and rented GPUs: total cost, break-even, sensitivity, the cheapest mix, and published models. Pure."""
