"""Stores of the site's secrets: files in the operator's folder, or one encrypted file for all operators."""
