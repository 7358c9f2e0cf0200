#!/bin/sh
# Build of nccl-tests as a package in a temporary system: validation.sh ARCHIVE CODENAME PACKAGE RELEASE PREFIX MAINTAINER RECOMMENDS.
# Its result is /build/out: the package, its index, and the release.
set -eu
archive=$1 codename=$2 package=$3 release=$4 prefix=$5 maintainer=$6 recommends=$7
cd /build
tar --extract --file "$archive" --one-top-level=source --strip-components=1
cd source
processors=$(nproc)
architecture=$(dpkg --print-architecture)
tuple=$(dpkg-architecture --query DEB_HOST_MULTIARCH)
# The distribution's CUDA has its files in /usr. Without the shared CUDA runtime, a node needs only the driver, NCCL and MPICH.
make --jobs="$processors" MPI=1 MPI_HOME="/usr/lib/$tuple/mpich" CUDA_HOME=/usr CUDA_LIB="/usr/lib/$tuple" CUDARTLIB=cudart_static
root=/build/root
mkdir -p "$root/DEBIAN" "$root$prefix/bin" /build/out debian
install --strip --mode=0755 build/*_perf "$root$prefix/bin/"
# Without MPI a test runs as separate programs with one rank each.
ldd "$root$prefix/bin/all_reduce_perf" | grep -q libmpi || { echo "landbridge: all_reduce_perf has no MPI" >&2; exit 3; }
echo "Source: $package" >debian/control
depends=$(dpkg-shlibdeps -O "$root$prefix"/bin/*_perf | sed -n 's/^shlibs:Depends=//p')
cat >"$root/DEBIAN/control" <<CONTROL
Package: $package
Version: $release+landbridge1~$codename
Architecture: $architecture
Maintainer: $maintainer
Section: contrib/utils
Depends: $depends
Recommends: $recommends
Description: programs of the acceptance ladder
 NCCL tests, built with MPICH, for landbridge validate.
CONTROL
dpkg-deb --root-owner-group --build "$root" /build/out
cd /build/out
apt-ftparchive packages . >Packages
echo "$package-$release" >release
