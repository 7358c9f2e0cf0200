"""`make demo`: the whole of Landbridge on one machine, at the fullest level the machine can carry."""
