#!/bin/sh
# What an image is built with, on the instance that is to become it: run.sh build, then run.sh again; and run.sh verify on an
# instance that was started from it. vars.json is what the roles are given, settings.sh what this program reads.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null  # comes with the archive
. "$here/settings.sh"
proxy=/etc/apt/apt.conf.d/99-landbridge-image
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin
export ANSIBLE_ROLES_PATH="$here/ansible/roles" ANSIBLE_GATHERING=explicit ANSIBLE_INJECT_FACT_VARS=False ANSIBLE_NOCOLOR=1
export ANSIBLE_PYTHON_INTERPRETER=/usr/bin/python3 ANSIBLE_LOCAL_TEMP=/tmp/.landbridge-image HOME=/root

play() {
  cd "$here"
  ansible-playbook --inventory image-builder, --connection local --extra-vars @vars.json ansible/playbooks/node_image.yml
}

build() {
  [ -z "${APT_PROXY:-}" ] || printf 'Acquire::http::Proxy "%s";\n' "$APT_PROXY" >"$proxy"
  # Another machine's setting up may still hold the lock at the first boot.
  apt-get -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 --quiet=2 update
  apt-get -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 --quiet=2 --yes --no-install-recommends install ansible-core
  play
}

# The same roles again find nothing to do: what they have set up stays as it is, on this host as on-prem.
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

# What the build needed, and what must not be the same on two hosts.
tidy() {
  apt-get --quiet=2 --yes --autoremove purge ansible-core
  apt-get clean
  rm -rf "$proxy" /tmp/.landbridge-image /root/.ansible /var/lib/apt/lists/*
}

verify() {
  wrong=0
  told=$(slurmd -V 2>&1) || told="no slurmd"
  # Debian's own package calls itself slurm-wlm.
  case $told in "slurm $SLURM_VERSION".* | "slurm-wlm $SLURM_VERSION".*) ;; *) bad "slurmd is '$told', not $SLURM_VERSION" ;; esac
  for unit in slurmd landbridge-identity landbridge-storage; do
    [ "$(systemctl is-enabled "$unit" 2>/dev/null)" = enabled ] || bad "$unit does not start at boot"
  done
  for key in /etc/slurm/slurm.key /etc/slurm/slurm.jwks /etc/munge/munge.key /root/.ssh/id_rsa /root/.ssh/id_ed25519; do
    [ ! -e "$key" ] || bad "$key is in the image: whoever may read the image would have it"
  done
  for left in /usr/bin/ansible-playbook "$proxy"; do
    [ ! -e "$left" ] || bad "$left is left of the build"
  done
  [ -s /etc/landbridge/node.json ] || bad "/etc/landbridge/node.json is missing: the node does not know where to ask"
  (cd / && /opt/landbridge/training/bin/python -W ignore -c "import jax.numpy, mlflow, boto3") || bad "jobs cannot import their libraries"
  [ "$wrong" = 0 ] || return 1
  echo "the image is what it should be: $told"
}

bad() {
  echo "$1" >&2
  wrong=1
}

case ${1:-} in
  build | again | verify) "$1" ;;
  *) echo "usage: $0 build|again|verify" >&2; exit 2 ;;
esac
