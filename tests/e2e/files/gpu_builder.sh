#!/bin/sh
set -eu
# Prepares a builder of GPU nodes: a kernel with headers, and what NVIDIA's parent images contain. KERNELS is the lab's suite of kernels.
export DEBIAN_FRONTEND=noninteractive
echo "deb [trusted=yes] $KERNELS ./" > /etc/apt/sources.list.d/kernels.list
apt-get -qq update
apt-get -qq install --no-install-recommends linux-image-aws git >/dev/null 2>&1
chmod 0755 /usr/local/sbin/modinfo
mkdir -p /usr/local/cuda/bin
printf '#!/bin/sh\n' > /usr/local/cuda/bin/nvcc
printf '#!/bin/sh\nprintf "all:\\n\\tprintf x > nvbandwidth\\n" > Makefile\n' > /usr/local/bin/cmake
chmod 0755 /usr/local/cuda/bin/nvcc /usr/local/bin/cmake
