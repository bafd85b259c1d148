# SPDX-License-Identifier: GPL-2.0-or-later
# The programs of the tracer's tests: a reader of the rings, and programs with known behaviour.
programs: $(addprefix $P/,trace_count trace_mem trace_mem32 trace_regs trace_cut trace_signals trace_signals32 \
  trace_dl trace_spawn trace_self)

$P/trace_count: tests/programs/trace_count.c src/stream/format.h
	@mkdir -p $(@D)
	gcc -std=gnu17 -g -O2 -Wall -Wextra -D_GNU_SOURCE -Isrc -o $@ $<
$P/trace_%: tests/programs/trace_%.S
	@mkdir -p $(@D)
	gcc -nostdlib -static -no-pie -o $@ $<
$P/trace_mem32: tests/programs/trace_mem32.S
	@mkdir -p $(@D)
	gcc -m32 -nostdlib -static -no-pie -o $@ $<
$P/trace_signals32: tests/programs/trace_signals.c
	@mkdir -p $(@D)
	gcc $(PROGRAM_FLAGS) -m32 -msse2 -o $@ $<
