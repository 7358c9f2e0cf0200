"""Allow-list of the words that another host of the site may ask this host for, over ssh with a forced command."""
