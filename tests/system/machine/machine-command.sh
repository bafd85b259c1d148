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
refuse "--warm with several processors" '--warm does not go with several' "$SOFTPMU" machine --rom zero.rom --warm \
	--cpus 2
refuse "--warm where nothing is timed" '--warm does not go with --functional' "$SOFTPMU" machine --rom zero.rom --warm \
	--functional
refuse "little memory" '32' "$SOFTPMU" machine --rom zero.rom --memory 1

# A Linux guest: what is wrong is said before anything is made.
printf '#!/bin/sh\nexec "$SOFTPMU" machine "$@"\n' >m && chmod +x m || exit 1
head -c 4096 /dev/zero >zero.kernel && : >empty.kernel
refuse "no command" 'give the command by --run' ./m --kernel zero.kernel
refuse "no kernel" 'none.kernel: No such file' ./m --kernel none.kernel --run true
refuse "a folder as a kernel" 'is no file' ./m --kernel . --run true
refuse "what is no kernel" 'is no kernel: a bzImage' ./m --kernel zero.kernel --run true
refuse "an empty kernel" 'is no kernel' ./m --kernel empty.kernel --run true
refuse "a kernel and a ROM" 'give one of them' ./m --kernel zero.kernel --rom zero.rom --run true
refuse "a command without a kernel" 'need --kernel' ./m --rom zero.rom --run true
refuse "three processors" '1, 2 or 4 processors, not 3' ./m --rom zero.rom --cpus 3
refuse "no processor" 'cpus' ./m --rom zero.rom --cpus 0

# A good header with a payload of 64 bytes that is packed by gzip, so it says.
put() { printf "%b" "$2" | dd of=fake.kernel bs=1 seek="$1" conv=notrunc status=none; }
head -c 4096 /dev/zero >fake.kernel
put 497 '\0004'; put 510 '\125\252'; put 513 '\152'; put 514 'HdrS\017\002'; put 529 '\001'
put 556 '\377\377\377\177'; put 566 '\001'; put 568 '\377\007'; put 588 '\100'; put 2560 '\037\213'
refuse "a program that is not there" 'none: No such file' ./m --kernel fake.kernel --add none --run true
refuse "a root that is not there" 'none: No such file' ./m --kernel fake.kernel --root none --run true
refuse "a root that is a file" 'is no folder' ./m --kernel fake.kernel --root zero.rom --run true
head -c 2600 fake.kernel >cut.kernel
refuse "a kernel that is cut short" 'is cut short' ./m --kernel cut.kernel --run true
if [ -f "$TOP/build/libexec/softpmu-boot.rom" ]; then
	refuse "a 64-bit kernel on a 32-bit core" 'core pentium3 has no 64-bit mode' \
		./m --kernel fake.kernel --core pentium3 --run true
fi
if [ -x "$TOP/build/libexec/softpmu-machine" ]; then
	refuse "a kernel that cannot be unpacked" 'gzip cannot unpack its kernel' ./m --kernel fake.kernel --run true
	mkdir full && touch full/file
	refuse "a folder that holds no state" 'holds no state of a machine' \
		./m --kernel fake.kernel --state full --run true
	mkdir other && echo 'emulator 0' >other/identity
	refuse "another machine's state" 'another emulator' \
		./m --kernel fake.kernel --state other --run true
fi

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
