"""Report of an environment's economics as one self-contained HTML page. Pure: the shell passes the day and the trace."""
