#!/bin/bash
# Stand-in of AWS's EFA installer: its options, its archive layout, its package names and its records. It refuses what the real one refuses.
# Source: efa_installer.sh of installer 1.2x (usage, detect_os, detect_kernels, write_package_file); EC2 User Guide, supported operating systems.
cd "$(dirname "$0")" || exit 1
# shellcheck source=/dev/null  # comes with the archive
. ./env.sh
# shellcheck source=/dev/null
. /etc/os-release
usage() { echo "usage: efa_installer.sh [-y] [-n] [-l] [-k] [-m] [-g] [-d]" >&2; exit 1; }
parsed=$(getopt -o dnuylkmg --long debug-packages,no-verify,uninstall,yes,skip-limit-conf,skip-kmod,minimal,enable-gdr,mpi: -- "$@") || usage
eval set -- "$parsed"
yes=0 verify=1 limits=1 kmod=1 minimal=0
while [ "$1" != -- ]; do
  case "$1" in
  -y | --yes) yes=1 ;;
  -n | --no-verify) verify=0 ;;
  -l | --skip-limit-conf) limits=0 ;;
  -k | --skip-kmod) kmod=0 ;;
  -m | --minimal) minimal=1 ;;
  -g | --enable-gdr | -d | --debug-packages) ;;
  --mpi) shift; case "$1" in openmpi4 | openmpi5) ;; *) usage ;; esac ;;
  *) usage ;;
  esac
  shift
done
case "$ID$VERSION_ID" in
debian11 | debian12 | debian13) folder=DEBIAN${VERSION_ID} ;;
ubuntu22.04 | ubuntu24.04) folder=UBUNTU${VERSION_ID/./} ;;
*) echo "Unsupported operating system." >&2; exit 1 ;;
esac
[ "$(id -u)" = 0 ] || { echo "Error: run as root" >&2; exit 1; }
[ $yes = 1 ] || { echo "This script will install the EFA kernel driver and required user space packages. Do you wish to continue?" >&2; exit 1; }
path=DEBS/$folder/$(uname -m)
[ -d "$path" ] || { echo "Error: package directory $path does not exist." >&2; exit 1; }
packages="$path/rdma-core/*.deb"
[ $minimal = 1 ] || packages="$packages $path/*.deb"
if [ $limits = 0 ]; then
  without_limits=$(find "$path" -maxdepth 1 -name '*.deb' ! -name 'efa-config*' | sort | tr '\n' ' ')
  packages=${packages//"$path"\/\*.deb/$without_limits}
fi
if [ $kmod = 1 ]; then
  kernels=$(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' 'linux-image-*' 2>/dev/null | sed -n 's/^ii *linux-image-\([0-9]\)/\1/p')
  [ -n "$kernels" ] || { echo "Error: unable to detect installed kernels, exiting." >&2; exit 1; }
  for kernel in $kernels; do
    apt-get -y install "linux-headers-$kernel" >/dev/null || { echo "The kernel header of $kernel cannot be installed" >&2; exit 1; }
  done
  packages="$packages $path/efa-driver/*.deb"
fi
# shellcheck disable=SC2046,SC2086
apt-get -y install $(printf './%s ' $packages) || { echo "Error: Failed to install packages." >&2; exit 1; }
mkdir -p /opt/amazon
{
  echo "# EFA installer version: $EFA_INSTALLER_VERSION"
  echo "# Debug packages installed: no"
  echo "# Packages installed:"
  # shellcheck disable=SC2086
  for package in $packages; do basename "$package" .deb; done | tr '\n' ' '
} >/opt/amazon/efa_installed_packages
if [ $verify = 1 ] && ls /sys/bus/pci/devices/*/infiniband/*efa* >/dev/null 2>&1; then fi_info -p efa; fi
echo "EFA installation complete."
