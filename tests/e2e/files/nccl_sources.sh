#!/bin/sh
set -eu
# Makes the source repositories of nccl-tests and nvbandwidth in $FOLDER, with the same commits wherever it runs.
export GIT_AUTHOR_NAME=lab GIT_AUTHOR_EMAIL=lab@example.org GIT_COMMITTER_NAME=lab GIT_COMMITTER_EMAIL=lab@example.org
export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' GIT_CONFIG_GLOBAL=/dev/null
umask 022
for name in nccl nvbandwidth; do
  mkdir -p "$FOLDER/$name"
  cd "$FOLDER/$name"
  git init --quiet --initial-branch=main
  cat > Makefile <<'END'
all:
	mkdir -p $(BUILDDIR)
	install -m 0755 all_reduce_perf $(BUILDDIR)
END
  [ "$name" = nvbandwidth ] || printf %s "$PROGRAM" | base64 -d > all_reduce_perf
  git add .
  git commit --quiet --message=lab
  git rev-parse HEAD
done
