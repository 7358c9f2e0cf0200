"""Allow-list of the requests that another host of the site may send to this host, over ssh with a forced command."""
