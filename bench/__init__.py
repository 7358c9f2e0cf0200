"""How long Landbridge's commands take and how much memory they need: `make bench`."""
