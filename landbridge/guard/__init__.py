"""Lambda function that ends expired nodes without the site. `reaper.py` is the whole function: it imports nothing of
Landbridge.
"""
