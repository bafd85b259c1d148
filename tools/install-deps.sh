#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the missing Debian packages that softpmu needs to be built, run and tested.
#   tools/install-deps.sh [readers]      readers: also the tools with which tests read softpmu's files; without them
#                                        these tests are skipped
# shellcheck disable=SC2086	# lists of packages are split into words
set -eu
packages="gcc make libc6-dev libc6-dev-i386 gcc-multilib g++ valgrind libzydis-dev libpfm4-dev libdw-dev libelf-dev
  libzstd-dev zlib1g-dev libiberty-dev libsqlite3-dev libcmocka-dev linux-perf binutils bzip2 xz-utils gzip sqlite3 \
  	python3 perl clang-14 libclang-rt-14-dev mandoc zstd pkg-config"
# libsqlite3-dev is for the profile store (src/store), which has to survive crashes and concurrent writers.

readers="autofdo bolt-16 golang-go shellcheck"	# golang-go: go tool pprof; shellcheck: checks all scripts

absent() {
	for p in "$@"; do
		dpkg-query -W -f '${Status}\n' "$p" 2>/dev/null | grep -q '^install ok installed' || echo "$p"
	done
}
missing=$(absent $packages | tr '\n' ' ') wanted=
[ "${1:-}" = readers ] && wanted=$(absent $readers | tr '\n' ' ')
[ -z "$missing$wanted" ] && exit 0

[ -z "$missing" ] && ! command -v apt-get >/dev/null 2>&1 && exit 0
if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null 2>&1; then
	echo "softpmu: no apt-get on this system. It needs what Debian 12 calls: $missing" >&2
	exit 1
fi
sudo=
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null 2>&1 || { echo "softpmu: install these packages as root: $missing $wanted" \
		>&2; exit 1; }
	sudo=sudo
fi
echo "softpmu: installing $missing $wanted" >&2
$sudo apt-get update -qq
[ -z "$missing" ] || DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing \
	>/dev/null
[ -z "$wanted" ] || DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $wanted \
	>/dev/null ||
	echo "softpmu: could not install $wanted: the tests that need them are skipped" >&2
