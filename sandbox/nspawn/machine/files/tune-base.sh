#!/bin/sh
# tune-base.sh ROOT FILES PROXY SUITE SOURCE...: turns a new minimal Debian into the lab's base image. Run once by mmdebstrap.
set -eu
root=$1 files=$2 proxy=$3
shift 3

# Every node must get its own identity: systemd fills an empty machine-id at first boot, unless dbus has a copy.
: > "$root/etc/machine-id"
rm -f "$root/var/lib/dbus/machine-id" "$root"/etc/ssh/ssh_host_*

# Permit many Ansible connections at once; disable DNS and Kerberos lookups, which no server of the lab answers. With the
# first key exchange of OpenSSH 9 (sntrup761x25519) a client computes for a tenth of a second, thousands of times in all tests.
printf '%s\n' 'PermitRootLogin prohibit-password' 'UseDNS no' 'GSSAPIAuthentication no' 'KexAlgorithms curve25519-sha256' \
  'MaxStartups 100:30:200' 'MaxSessions 100' > "$root/etc/ssh/sshd_config.d/10-lab.conf"
rm -f "$root/etc/resolv.conf"
echo '# the lab has no DNS: names come from /etc/hosts' > "$root/etc/resolv.conf"

# apt: quick unpacking, small lists, testing only for packages pinned to it.
rm -f "$root/etc/apt/apt.conf.d/99mmdebstrap" "$root"/etc/apt/sources.list.d/*
cp "$files/sources.list" "$root/etc/apt/sources.list"
cp "$files/pin" "$root/etc/apt/preferences.d/testing"
printf '%s\n' 'Acquire::Languages "none";' 'APT::Install-Recommends "false";' 'DPkg::Lock::Timeout "60";' \
  'Acquire::GzipIndexes "true";' 'Acquire::CompressionTypes::Order { "xz"; "gz"; };' > "$root/etc/apt/apt.conf.d/01lab"
echo force-unsafe-io > "$root/etc/dpkg/dpkg.cfg.d/lab-unsafe-io"
printf 'path-exclude=/usr/share/%s/*\n' doc man locale > "$root/etc/dpkg/dpkg.cfg.d/lab-nodoc"
rm -rf "$root"/var/lib/apt/lists/*
chroot "$root" apt-get -q -o "Acquire::http::Proxy=$proxy" update
cp "$files/small-lists.py" "$root/root/small-lists.py"
chroot "$root" python3 /root/small-lists.py "$@"
rm "$root/root/small-lists.py"
# Keep apt's cache of the lists, so that nodes do not build it again; its cache of installed packages would change.
chroot "$root" apt-cache gencaches
rm -rf "$root"/var/lib/apt/lists/auxfiles/* "$root"/var/cache/apt/pkgcache.bin "$root"/var/cache/apt/archives/*.deb

# The host's CA certificates, for machines behind a proxy that re-signs TLS.
if [ -s /etc/ssl/certs/ca-certificates.crt ]; then
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
fi

# Mask units that a container cannot run, and timers.
for unit in systemd-networkd.service systemd-networkd.socket systemd-networkd-wait-online.service \
  systemd-resolved.service systemd-udevd.service systemd-udev-trigger.service console-getty.service getty@.service \
  serial-getty@.service systemd-journal-flush.service systemd-pstore.service apt-daily.timer apt-daily-upgrade.timer \
  dpkg-db-backup.timer e2scrub_all.timer fstrim.timer \
  run-rpc_pipefs.mount proc-fs-nfsd.mount; do
  ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
ln -sf /lib/systemd/system/multi-user.target "$root/etc/systemd/system/default.target"
mkdir -p "$root/etc/systemd/journald.conf.d"
printf '[Journal]\nStorage=volatile\nRuntimeMaxUse=16M\n' > "$root/etc/systemd/journald.conf.d/lab.conf"

# Hardware stand-ins: an NFS client for kernels without one (diverted, so that nfs-common cannot replace it), and
# cgroup v1 controllers that the node's Slurm may write to.
for name in mount.nfs mount.nfs4; do
  chroot "$root" dpkg-divert --quiet --local --no-rename --divert "/usr/sbin/$name.kernel" --add "/usr/sbin/$name"
  install -m 755 "$files/mount.nfs" "$root/usr/sbin/$name"
done
sed -i 's/^#user_allow_other/user_allow_other/' "$root/etc/fuse.conf"
install -D -m 755 "$files/cgroup-v1-writable" "$root/usr/local/lib/lab/cgroup-v1-writable"
install -D -m 644 "$files/cgroup-v1.service" "$root/etc/systemd/system/lab-cgroup-v1.service"
mkdir -p "$root/etc/systemd/system/sysinit.target.wants"
ln -sf ../lab-cgroup-v1.service "$root/etc/systemd/system/sysinit.target.wants/lab-cgroup-v1.service"
