"""EC2 operations that moto does not have: launches, fleets, capacity, reservations, quotas, images, Image Builder."""
