# SPDX-License-Identifier: GPL-2.0-or-later
# What runs inside a Linux guest of the whole machine: the ROM that starts its kernel, and its first program in 64 and
# in 32 bits.  All lie beside the emulator.
.PHONY: guest
guest: build/libexec/softpmu-boot.rom build/libexec/softpmu-init-64 build/libexec/softpmu-init-32
GUEST_CFLAGS := -std=gnu17 -Wall -Wextra -O2 -Isrc -ffreestanding -fno-pic -fno-stack-protector -fcf-protection=none \
  -fno-asynchronous-unwind-tables -mgeneral-regs-only -U_FORTIFY_SOURCE
GUEST_LDFLAGS := -static -no-pie -nostdlib -Wl,--build-id=none -Wl,-z,noexecstack -Wl,-z,norelro -s
build/libexec/softpmu-init-%: src/guest/guest_init.c $(wildcard src/guest/*.h)
	@mkdir -p $(@D)
	$(CC) -m$* $(GUEST_CFLAGS) $(GUEST_LDFLAGS) -o $@ $<
build/libexec/softpmu-boot.rom: src/guest/boot_rom.S
	@mkdir -p $(@D) build/obj/src/guest
	$(CC) -m64 -c -o build/obj/src/guest/boot_rom.o $<
	objcopy -O binary -j .text build/obj/src/guest/boot_rom.o $@
