"""Tests of the forced command of the site's timers and of their access to hosts."""
