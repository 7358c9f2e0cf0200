"""What watches in AWS while the site may be dark. `reaper.py` runs alone in Lambda: it imports nothing of Landbridge."""
