#!/bin/sh
# Build of a node image on the build instance: run.sh build, then run.sh again; run.sh verify runs on an instance that was launched
# from the image. vars.json contains the roles' variables, settings.sh this program's settings.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null  # comes with the archive
. "$here/settings.sh"
proxy=/etc/apt/apt.conf.d/99-landbridge-image
universe=/etc/apt/sources.list.d/landbridge-image.sources
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin
export ANSIBLE_ROLES_PATH="$here/ansible/roles" ANSIBLE_GATHERING=explicit ANSIBLE_INJECT_FACT_VARS=False ANSIBLE_NOCOLOR=1
export ANSIBLE_PYTHON_INTERPRETER=/usr/bin/python3 ANSIBLE_LOCAL_TEMP=/tmp/.landbridge-image HOME=/root

play() {
  cd "$here"
  ansible-playbook --inventory image-builder, --connection local --extra-vars @vars.json ansible/playbooks/node_image.yml
}

build() {
  [ -z "${APT_PROXY:-}" ] || printf 'Acquire::http::Proxy "%s";\n' "$APT_PROXY" >"$proxy"
  universe
  # At the first boot another program may still hold the lock.
  apt-get -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 --quiet=2 update
  apt-get -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 --quiet=2 --yes --no-install-recommends install ansible-core
  play
}

# Add Ubuntu's archive universe, which has ansible-core, if the parent image does not use it.
universe() {
  # shellcheck source=/dev/null
  (. /etc/os-release && [ "$ID" = ubuntu ]) || return 0
  ! grep -Eqrs '^[^#]*\buniverse\b' /etc/apt/sources.list /etc/apt/sources.list.d || return 0
  # shellcheck source=/dev/null
  (. /etc/os-release && printf 'Types: deb\nURIs: %s\nSuites: %s %s-updates\nComponents: universe\nSigned-By: %s\n' \
    "$(archive)" "$VERSION_CODENAME" "$VERSION_CODENAME" /usr/share/keyrings/ubuntu-archive-keyring.gpg) >"$universe"
}

# Print the address of the Ubuntu archive that the parent image uses: its region's mirror, or ports for arm64.
archive() {
  sed -n -E 's/^(URIs:|deb( \[[^]]*\])?) *(https?:\/\/[^ ]+).*/\3/p' /etc/apt/sources.list.d/ubuntu.sources /etc/apt/sources.list 2>/dev/null | head -n 1
}

# Run the same roles again: as on-prem, a second run must not change anything.
again() {
  log=$(mktemp)
  play >"$log" 2>&1 || { cat "$log"; return 1; }
  if ! grep -Eq 'ok=[0-9]+ +changed=0 +unreachable=0 +failed=0' "$log"; then
    grep -B3 -E '^changed:|^fatal:|changed=' "$log"
    echo "a second run of the roles changed something" >&2
    return 1
  fi
  rm -f "$log"
  tidy
}

# Remove build tools, and files that must not be the same on two hosts.
tidy() {
  apt-get --quiet=2 --yes --autoremove purge ansible-core
  apt-get clean
  rm -rf "$proxy" "$universe" /tmp/.landbridge-image /root/.ansible /var/lib/apt/lists/*
}

# Check the image against its contract, and that jobs can import their libraries.
verify() {
  /opt/landbridge/bin/landbridge-node-verify image
  (cd / && /opt/landbridge/training/bin/python -W ignore -c "import jax.numpy, mlflow, boto3") || { echo "jobs cannot import their libraries" >&2; return 1; }
  echo "the image fulfils its contract: $(slurmd -V)"
}

case ${1:-} in
  build | again | verify) "$1" ;;
  *) echo "usage: $0 build|again|verify" >&2; exit 2 ;;
esac
