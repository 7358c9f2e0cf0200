"""Environment files: load, validate, edit, fork, lock and expand them."""
