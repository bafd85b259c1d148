# SPDX-License-Identifier: GPL-2.0-or-later
# The tracer: an out-of-tree Valgrind tool, linked from the static libraries of the system's Valgrind, once for 64-bit
# and once for 32-bit programs (tools/check-valgrind.sh: which versions fit); and softpmu-exec, through which a traced
# process starts another program.
# The linker redirects the core's functions named in TRACER_WRAP to the tracer (src/valgrind/core_private.h says why).
TRACER_LIB  := $(or $(shell pkg-config --variable=libdir valgrind 2>/dev/null),/usr/lib/x86_64-linux-gnu)/valgrind
TRACER_HEADERS := $(or $(shell pkg-config --variable=includedir valgrind 2>/dev/null),/usr/include/valgrind)
TRACER_SRC  := $(wildcard src/valgrind/*.c)
TRACER_SRC  := $(filter-out src/valgrind/exec_launcher.c,$(TRACER_SRC))
TRACER_CC   := gcc
TRACER_WRAP := $(foreach f,am_startup di_notify_mmap gdbserver_report_signal sigframe_create kill_self client_exit \
  discard_translations nuke_all_threads_except release_BigLock machine_get_VexArchInfo,-Wl,--wrap=vgPlain_$f) \
  $(foreach f,create destroy acquire release,-Wl,--wrap=vgModuleLocal_$f_sched_lock) \
  $(foreach f,generic_sys_execve linux_sys_execveat linux_sys_clone,-Wl,--wrap=vgSysWrap_$f_before) \
  $(foreach f,get_sched_lock_owner do_syscall_for_client_WRK,-Wl,--wrap=vgModuleLocal_$f) \
  -Wl,--wrap=amd64g_dirtyhelper_RDTSCP
TRACER_CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Wno-builtin-declaration-mismatch -fno-strict-aliasing \
  -fno-builtin -fno-stack-protector -fno-pic -fomit-frame-pointer -U_FORTIFY_SOURCE \
  -isystem $(TRACER_HEADERS) -Isrc -Iinclude -DVGO_linux=1
TRACER_LDFLAGS := -static -no-pie -nodefaultlibs -nostartfiles -u _start \
  -Wl,--build-id=none -Wl,-Ttext-segment=0x58000000 \
  -Wl,-z,noexecstack -Wl,--no-warn-rwx-segments

tracer_amd64_FLAGS := -m64 -DVGA_amd64=1 -DVGP_amd64_linux=1 -DVGPV_amd64_linux_vanilla=1
tracer_x86_FLAGS   := -m32 -mpreferred-stack-boundary=2 -DVGA_x86=1 -DVGP_x86_linux=1 -DVGPV_x86_linux_vanilla=1

.PHONY: tracer
tracer: build/libexec/softpmu-tracer-amd64-linux build/libexec/softpmu-tracer-x86-linux build/libexec/softpmu-exec

build/tracer/fits: tools/check-valgrind.sh src/valgrind/core_private.h $(wildcard $(TRACER_LIB)/libcoregrind-*.a)
	@mkdir -p $(@D)
	@tools/check-valgrind.sh $(TRACER_LIB) $(TRACER_HEADERS) && touch $@

define tracer_rules
build/tracer/$1/%.o: src/valgrind/%.c | build/tracer/fits
	@mkdir -p $$(@D)
	$(TRACER_CC) $(TRACER_CFLAGS) $(tracer_$1_FLAGS) -MMD -MP -c -o $$@ $$<
build/libexec/softpmu-tracer-$1-linux: $(TRACER_SRC:src/valgrind/%.c=build/tracer/$1/%.o)
	@mkdir -p $$(@D)
	$(TRACER_CC) $(tracer_$1_FLAGS) $(TRACER_LDFLAGS) $(TRACER_WRAP) -o $$@ $$^ \
	  $(TRACER_LIB)/libcoregrind-$1-linux.a $(TRACER_LIB)/libvex-$1-linux.a -lgcc \
	  $(TRACER_LIB)/libgcc-sup-$1-linux.a
endef
$(eval $(call tracer_rules,amd64))
$(eval $(call tracer_rules,x86))

build/libexec/softpmu-exec: src/valgrind/exec_launcher.c
	@mkdir -p $(@D)
	$(TRACER_CC) -std=gnu17 -O2 -g -Wall -Wextra -D_GNU_SOURCE -o $@ $<

-include $(wildcard build/tracer/*/*.d)
