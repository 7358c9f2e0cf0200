"""Lambda function that terminates nodes with an expired lease. `reaper.py` is the whole function and imports nothing of
Landbridge.
"""
