#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the whole machine: Bochs 3.0 from the source package of Debian trixie, with softpmu's model behind its
# registers.  Called by `make machine` in the root of the source:
#   tools/machine/build-machine.sh LIBSOFTPMU LIBRARIES...
# Everything lies in build/machine; the program is build/libexec/softpmu-machine.  MACHINE_SOURCE=FILE takes the source
# package from there and does not fetch it.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
sum=78f6c73d4a6472d5130a87ab9dc306d02c7c71ed8e25b3a8ef642e2a7acd282b
tar=bochs_3.0+dfsg.orig.tar.xz
lib=$1
shift
mkdir -p "$root/build/machine/apt/lists/partial" "$root/build/libexec"
cd "$root/build/machine"

# Fetches the source package by apt: with trixie's line beside the system's own, in lists of our own, so that nothing
# of the system changes.
fetch() {
	uri=$(sed -n 's/^URIs: *\([^ ]*debian\)\/* *$/\1/p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*debian\)\/* .*/\2/p' \
		/etc/apt/sources.list.d/*.sources /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
		head -n 1)
	[ -n "$uri" ] ||
		{ echo "machine: no Debian mirror in /etc/apt; give the package by MACHINE_SOURCE" >&2; exit 1; }
	key=/usr/share/keyrings/debian-archive-keyring.gpg
	echo "deb-src [signed-by=$key] $uri trixie main" >apt/sources.list
	set -- -qq -o Dir::Etc::sourcelist="$PWD/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::lists="$PWD/apt/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
		-o APT::Sandbox::User=root
	apt-get "$@" update && apt-get "$@" source --download-only --tar-only bochs/trixie >/dev/null
}

[ -z "${MACHINE_SOURCE:-}" ] || cp "$MACHINE_SOURCE" "$tar"
[ -f "$tar" ] || fetch || { echo "machine: could not fetch the source of Bochs 3.0 from Debian trixie" >&2; exit 1; }
echo "$sum  $tar" | sha256sum -c --quiet - >&2 || {
	echo "machine: build/machine/$tar is not the source of Bochs 3.0; remove it and try again" >&2
	exit 1
}

# A change of the patch or of what all of Bochs includes means: all again.
want=$(cat "$root/src/machine/bochs/bochs.patch" "$root/src/machine/bochs/instrument.h" \
	"$root/src/machine/bochs/bochs.mk" "$root/tools/machine/build-machine.sh" | sha256sum)
if [ "$(cat made 2>/dev/null)" != "$want" ]; then
	rm -rf bochs-3.0 made
	tar xf "$tar"
	patch -s -d bochs-3.0 -p1 <"$root/src/machine/bochs/bochs.patch"
	mkdir -p bochs-3.0/instrument/softpmu
	cp "$root/src/machine/bochs/instrument.h" bochs-3.0/instrument/softpmu
	cp "$root/src/machine/bochs/bochs.mk" bochs-3.0/instrument/softpmu/Makefile.in
	# The red zone: SOFTPMU_CALL of instrument.h
	(cd bochs-3.0 && CXXFLAGS='-O2 -g0 -pipe -mno-red-zone' CFLAGS='-O2 -g0 -pipe' ./configure -q --with-nogui \
		--enable-instrumentation=instrument/softpmu --enable-x86-64 --enable-cpu-level=6 --enable-vmx=2 \
		--enable-pci --enable-long-phy-address --enable-avx --enable-evex --enable-handlers-chaining \
		--enable-trace-linking --enable-fast-function-calls --enable-repeat-speedups --disable-docbook \
		--enable-a20-pin --enable-smp --disable-large-ramfile --disable-readline --disable-xpm \
		>configure.out 2>&1) ||
		{ tail -n 20 bochs-3.0/configure.out >&2; exit 1; }
	echo "$want" >made
fi
rm -f bochs-3.0/bochs
# Its makefiles pass -j on by themselves; they know nothing of a ccache that may stand in front of g++.
make -C bochs-3.0 -s ${MACHINE_JOBS:+"-j$MACHINE_JOBS"} bochs SOFTPMU="$root" LIBS="$lib $* -lm -lpthread -ldl" \
	>make.out 2>&1 || { tail -n 30 make.out >&2; exit 1; }
cp bochs-3.0/bochs "$root/build/libexec/softpmu-machine"
