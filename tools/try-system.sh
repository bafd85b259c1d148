#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the README's two commands, make demo and make check, in a fresh Debian of another release.
#   tools/try-system.sh RELEASE [ROOT]      RELEASE: trixie, bookworm, ...  ROOT: where the system is made and kept;
#                                           without it, a folder that is removed again
# The tree is the last commit of this checkout.  Needs root, the network, debootstrap, and 4 GB of disk.
# COMMANDS="make demo": only these, one a line.  A ../shared beside this checkout is there, too (tests read it).
# PACKAGES=DIR: installs the packages of DIR (make deb) instead, and runs softpmu stat ls.
set -eu
release=${1:?usage: try-system.sh RELEASE [ROOT]}
top=$(cd "$(dirname "$0")/.." && pwd)
[ "$(id -u)" = 0 ] || { echo "try-system: root is needed to make a system with debootstrap" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "try-system: debootstrap is not installed (Debian: package debootstrap)" >&2
	exit 1; }
root=${2:-$(mktemp -d)}
chmod 755 "$root" 2>/dev/null || mkdir -p "$root"
mounted=
leave() {	# what is mounted below root would be removed with it
	for at in $mounted; do umount "$at"; done
	if [ $# = 0 ]; then rm -rf --one-file-system "$root"; fi
}
if [ -n "${2:-}" ]; then trap 'leave keep' EXIT INT TERM; else trap leave EXIT INT TERM; fi
[ -e "$root/etc/debian_version" ] || {
	debootstrap --variant=minbase "$release" "$root" >"$root.log" 2>&1 || { tail -n 3 "$root.log" >&2; exit 1; }
	rm -f "$root.log"
}
for at in proc dev dev/pts sys; do	# dev/pts: tests make terminals
	mount --bind "/$at" "$root/$at"
	mounted="$root/$at $mounted"
done
inside() { chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"; }
export DEBIAN_FRONTEND=noninteractive
inside apt-get update -qq
if [ -n "${PACKAGES:-}" ]; then
	mkdir -p "$root/root/packages"
	cp "$PACKAGES"/*.deb "$root/root/packages"
	rm -f "$root"/root/packages/*-dbgsym_*
	inside sh -c '. /etc/os-release; echo "$PRETTY_NAME"; apt-get install -y -qq --no-install-recommends \
		/root/packages/*.deb >/root/apt.log 2>&1 || { tail -n 5 /root/apt.log; exit 1; }
		dpkg -l "*softpmu*" | grep ^ii; echo "\$ softpmu stat ls"; cd /; softpmu stat ls'
	exit
fi
inside apt-get install -y -qq --no-install-recommends git make ca-certificates >/dev/null 2>&1
rm -rf "$root/root/softpmu"
mkdir -p "$root/root/softpmu"
git clone -q "$top" "$root/root/softpmu/main"
[ ! -d "$top/../shared" ] || cp -aL "$top/../shared" "$root/root/softpmu/shared"
inside sh -c '. /etc/os-release; echo "$PRETTY_NAME"'
failed=0
printf '%s\n' "${COMMANDS:-make demo
make check}" >"$root/root/softpmu/commands"
while read -r command; do
	echo "\$ $command"
	# shellcheck disable=SC2086
	inside sh -c "cd /root/softpmu/main && $command" </dev/null || { echo "[exit $?]"; failed=1; }
done <"$root/root/softpmu/commands"
exit $failed
