#!/bin/sh
set -eu
echo "$LANDBRIDGE_EVENT $LANDBRIDGE_POOL $LANDBRIDGE_NODE $1" > /etc/scripts-of-this-boot
