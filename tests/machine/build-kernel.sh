#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds one of the tests' kernels:
#   tests/machine/build-kernel.sh FOLDER_OF_ITS_SOURCE OUTPUT [kernel | hypervisor | memory_kernel]
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-gcc} -c -m64 -o "$work/boot.o" "$1/boot.S"
${CC:-gcc} -std=gnu17 -Wall -Wextra -O1 -ffreestanding -fno-pic -fno-stack-protector -fcf-protection=none \
	-mno-red-zone -mgeneral-regs-only -c -o "$work/kernel.o" "$1/${3:-kernel}.c"
ld -z noexecstack -T "$1/kernel.ld" -o "$work/kernel.elf" "$work/boot.o" "$work/kernel.o" 2>"$work/said" ||
	{ cat "$work/said" >&2; exit 1; }
objcopy -O binary --gap-fill 0 "$work/kernel.elf" "$2"
