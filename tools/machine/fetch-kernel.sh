#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Fetches a kernel of Debian, for `softpmu machine --kernel`:
#   tools/machine/fetch-kernel.sh [amd64 | 686 | 686-pae | 686-bullseye]
# It is the newest one that the suite has: bookworm's 6.1, or bullseye's 5.10.  build/machine/kernel/vmlinuz-NAME is the
# kernel, System.map-NAME its symbols if the package has them.  Modules are left out.  It takes no root: apt keeps lists
# of our own, and nothing of the system changes.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
name=${1:-amd64} suite=bookworm
case $name in
amd64)	arch=amd64 flavour=amd64 ;;
686 | 686-pae)
	arch=i386 flavour=$name ;;
686-bullseye)
	arch=i386 flavour=686 suite=bullseye ;;
*)	echo "usage: fetch-kernel.sh [amd64 | 686 | 686-pae | 686-bullseye]" >&2; exit 2 ;;
esac
work=$root/build/machine/kernel/apt-$name
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
cd "$work"
uri=$(sed -n 's/^URIs: *\([^ ]*debian\)\/* *$/\1/p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*debian\)\/* .*/\2/p' \
	/etc/apt/sources.list.d/*.sources /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | head -n 1)
[ -n "$uri" ] || { echo "fetch-kernel: no Debian mirror in /etc/apt" >&2; exit 1; }
key=/usr/share/keyrings/debian-archive-keyring.gpg
{	echo "deb [arch=$arch signed-by=$key] $uri $suite main"
	echo "deb [arch=$arch signed-by=$key] $uri-security $suite-security main"
} >sources.list
: >status
apt() {
	command=$1
	shift
	"$command" -qq -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::lists="$PWD/lists" -o Dir::State::status="$PWD/status" -o Dir::Cache="$PWD/cache" \
		-o APT::Architecture=$arch -o APT::Architectures=$arch -o APT::Sandbox::User=root \
		-o Acquire::Languages=none "$@"
}
# A suite's security part may be out of reach, or at its end: what there is of lists counts.
apt apt-get update >apt.out 2>&1 || true
# The newest one may have left the archive already while its suite still lists it: then the one before.
packages=$(apt apt-cache pkgnames linux-image- | grep -E "^linux-image-[0-9][0-9.]*-[0-9]+-$flavour\$" | sort -Vr |
	head -n 60)
package=
rm -f ./*.deb
for p in $packages; do
	if apt apt-get download "$p" >>apt.out 2>&1; then
		package=$p
		break
	fi
done
[ -n "$package" ] || {
	cat apt.out >&2
	echo "fetch-kernel: $uri has no kernel $flavour of $suite" >&2
	exit 1
}
rm -rf files && mkdir files
dpkg-deb --fsys-tarfile ./*.deb | tar x -C files --wildcards './boot/*'
mv files/boot/vmlinuz-* "../vmlinuz-$name"
# Debian's System.map is a line that names another package, with the debugging symbols.
for map in files/boot/System.map-*; do
	if [ -f "$map" ] && [ "$(wc -c <"$map")" -gt 10000 ]; then
		mv "$map" "../System.map-$name"
	fi
done
echo "$package $(dpkg-deb -f ./*.deb Version)" >"../version-$name"
rm -rf files ./*.deb
echo "build/machine/kernel/vmlinuz-$name: $(cat "../version-$name")"
