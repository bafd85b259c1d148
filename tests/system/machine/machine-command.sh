#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu machine: what it refuses, and the configuration that it writes.  It needs no emulator.
. "$TOP/tests/lib.sh"
head -c 65536 /dev/zero >zero.rom
head -c 1000 /dev/zero >odd.rom
head -c 262144 /dev/zero >large.rom
refuse "without an image" 'give the machine a kernel by --kernel, or an image by --rom' "$SOFTPMU" machine
refuse "an image that is not there" 'none.rom' "$SOFTPMU" machine --rom none.rom
refuse "an image of an odd size" 'multiple of 512' "$SOFTPMU" machine --rom odd.rom
refuse "a large image" '128 KB' "$SOFTPMU" machine --rom large.rom
refuse "a core of another vendor" 'no machine with the core zen4' "$SOFTPMU" machine --rom zero.rom --core zen4
refuse "a word" "'ls': machine takes options only" "$SOFTPMU" machine --rom zero.rom ls
refuse "little memory" '32' "$SOFTPMU" machine --rom zero.rom --memory 1

"$SOFTPMU" machine --rom zero.rom --memory 64 --core ivy-bridge --set core.frequency_ghz=2 --show-config >config 2>err
same "--show-config" "$?" 0
has "the image ends at 4 GB" 'address=0xffff0000$' config
has "the processor is of the core's generation" 'model=corei7_ivy_bridge_3770k' config
has "a tick of its clock is a cycle" 'ips=2000000000,' config
has "the host's clock is not seen" 'clock: sync=none, time0=946684800' config

mkdir bin && cp "$SOFTPMU" bin/softpmu && ln -s "$TOP/data" data && mkdir libexec &&
	ln -s "$TOP/build/libexec/softpmu-tracer-amd64-linux" libexec/ || exit 1
refuse "without the emulator" 'make machine' bin/softpmu machine --rom zero.rom
exit $failed
