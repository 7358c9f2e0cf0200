"""Parts of components: base classes, discovery, and resources that several components create."""
