"""Canary: sequential comparison of a candidate version with the champion, with a stated rate of false rollbacks. Pure."""
