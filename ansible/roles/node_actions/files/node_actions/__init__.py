"""Program that runs the scripts of a node's pool before slurmd."""
