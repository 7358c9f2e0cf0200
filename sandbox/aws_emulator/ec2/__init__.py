"""EC2 beyond moto: launches, fleets, capacity, reservations, quotas, images, Image Builder."""
