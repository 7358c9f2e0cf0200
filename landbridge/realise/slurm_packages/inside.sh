#!/bin/sh
# Runs in a system that is thrown away: inside.sh ARCHIVE CODENAME. What is left of it is /build/out, a repository without a signature.
set -eu
archive=$1 codename=$2
architecture=$(dpkg --print-architecture)
export DEBIAN_FRONTEND=noninteractive
# Tests need a cluster, manuals a browser, and symbols their own packages.
processors=$(nproc)
export DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$processors"
cd /build
tar --extract --file "$archive" --one-top-level=source --strip-components=1
cd source
# Its own suffix: never taken for somebody else's package of the same release.
sed -i '1s/(\([^)]*\))/(\1+landbridge1)/' debian/changelog
apt-get --quiet --yes --no-install-recommends build-dep ./
dpkg-buildpackage --no-sign --build=binary
cd /build
mkdir -p "out/pool" "out/dists/$codename/main/binary-$architecture"
mv ./*.deb out/pool/
cd out
apt-ftparchive packages pool >"dists/$codename/main/binary-$architecture/Packages"
gzip --best --keep "dists/$codename/main/binary-$architecture/Packages"
cat >/build/release.conf <<END
APT::FTPArchive::Release {
  Origin "Landbridge"; Label "Landbridge"; Suite "$codename"; Codename "$codename"; Architectures "$architecture"; Components "main";
};
END
apt-ftparchive --config-file /build/release.conf release "dists/$codename" >/build/Release
mv /build/Release "dists/$codename/Release"
