#!/bin/sh
# The home directories are mounted at this moment. A file $1 in alice's stands for a licence server that refuses.
set -eu
if runuser -u alice -- test -e "$1"; then
    echo "no licence for $LANDBRIDGE_NODE"
    exit 3
fi
echo "$LANDBRIDGE_EVENT $(stat --format=%F /home/alice)" >> /etc/scripts-of-this-boot
