#!/bin/sh
# Build of the packages in a temporary system: inside.sh ARCHIVE CODENAME PLUGIN... Its result is /build/out: the packages, their
# index, and the release.
set -eu
archive=$1 codename=$2
shift 2
export DEBIAN_FRONTEND=noninteractive
# No tests, which need a cluster, and no packages of debug symbols.
processors=$(nproc)
export DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$processors"
cd /build
tar --extract --file "$archive" --one-top-level=source --strip-components=1
cd source
# The version has a suffix, so that it differs from other packages of the same release, also from those of another system.
sed -i "1s/(\([^)]*\))/(\1+landbridge1~$codename)/" debian/changelog
version=$(dpkg-parsechangelog --show-field Version)
apt-get --quiet --yes --no-install-recommends build-dep ./
dpkg-buildpackage --no-sign --build=binary
mkdir /build/out
mv ../*.deb /build/out/
# Slurm's configure leaves out a plugin whose library it does not find, without an error.
for package in /build/out/*.deb; do dpkg-deb --contents "$package"; done >/build/contents
missing=
for plugin in "$@"; do
  grep -q "/slurm/$plugin\.so" /build/contents || missing="$missing $plugin"
done
test -z "$missing" || { echo "landbridge: the build has no plugin$missing" >&2; exit 3; }
cd /build/out
apt-ftparchive packages . >Packages
echo "${version%%-*}" >release
