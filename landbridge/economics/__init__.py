"""Economics: cost of owned and rented capacity, and the cheapest mix of both for a recorded demand."""
