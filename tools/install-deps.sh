#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the missing Debian packages that softpmu needs to be built, run and tested.
#   tools/install-deps.sh [readers | packaging | plots | pictures | machine]
# readers: also the tools with which tests read softpmu's files; without them these tests are skipped.
# packaging: also what `make deb` needs; plots, pictures, machine: also what `make plots`, `make pictures` or
# `make machine` needs.
# shellcheck disable=SC2086	# lists of packages are split into words
set -eu
packages="gcc make libc6-dev libc6-dev-i386 gcc-multilib g++ valgrind libzydis-dev libpfm4-dev libdw-dev libelf-dev
  libzstd-dev zlib1g-dev libiberty-dev libsqlite3-dev libjson-c-dev libcmocka-dev linux-perf binutils bzip2 xz-utils
  gzip sqlite3 python3 perl clang libclang-rt-dev mandoc zstd pkg-config jq"
# libsqlite3-dev is for the profile store (src/store), which has to survive crashes and concurrent writers;
# libjson-c-dev (MIT) reads the JSON of gate and compare, which may come from anywhere.

# golang-go: go tool pprof; shellcheck: checks all scripts; chromium: opens pages;
# libbenchmark-dev and python3-yaml (under 1 MB): the recipes for CI.  Not here: cargo and librust-criterion-dev, 390 MB
# slurmctld, slurmd, slurm-client, munge (33 MB): a cluster on this host; parallel: sweeps by GNU parallel
readers="autofdo golang-go shellcheck chromium libbenchmark-dev python3-yaml slurmctld slurmd
  slurm-client munge parallel"
[ "${1:-}" != packaging ] || packages="$packages build-essential debhelper lintian git"
[ "${1:-}" != plots ] || packages="$packages gnuplot-nox"
[ "${1:-}" != pictures ] || packages="$packages chromium pngquant optipng"
[ "${1:-}" != machine ] || packages="$packages patch dpkg-dev"
absent() {
	for p in "$@"; do
		dpkg-query -W -f '${Status}\n' "$p" 2>/dev/null | grep -q '^install ok installed' || echo "$p"
	done
}
missing=$(absent $packages | tr '\n' ' ') wanted=
if [ "${1:-}" = readers ]; then
	wanted=$(absent $readers | tr '\n' ' ')
	# Debian's `bolt` is another program; which bolt-NN there is depends on the release
	[ -n "$(dpkg-query -W -f '${Version}' 'bolt-[0-9]*' 2>/dev/null)" ] || wanted="$wanted bolt-"
fi
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
case $wanted in
*bolt-)	bolt=$(apt-cache search --names-only '^bolt-[0-9]+$' | awk '{ print $1 }' | sort -V)
	case "$bolt" in *bolt-16*) bolt='bolt-16' ;; esac	# what the tests were written with
	wanted="${wanted%bolt-}$(echo "$bolt" | tail -n 1)" ;;
esac
[ -z "$missing" ] || DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing \
	>/dev/null
[ -z "$wanted" ] || DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $wanted \
	>/dev/null ||
	echo "softpmu: could not install $wanted: the tests that need them are skipped" >&2
