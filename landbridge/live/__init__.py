"""What only AWS itself knows, asked before anything is built: preflight, the image lock, the catalogue's refresh."""
