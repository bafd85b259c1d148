# SPDX-License-Identifier: GPL-2.0-or-later
# The programs of the system tests.  The flags are fixed, because the instruction counts are golden.
P := build/tests/programs
PROGRAM_FLAGS := -O1 -g -fno-pie -no-pie

PROGRAMS := $(addprefix $P/,work work-static work32 threads throws dies reps norep by_cause \
	jumps jit forks l1_miss heap stream chase sharing causes topdown advice pages churn phases \
	elided debugs fills even tosses timestamps)
programs: $(PROGRAMS)

$P/%: tests/programs/%.c
	@mkdir -p $(@D)
	gcc $(PROGRAM_FLAGS) -pthread -o $@ $<
$P/stream: tests/programs/memory_stream.c
$P/wrongpath: tests/programs/wrong_paths.c
$P/stream $P/wrongpath:
	@mkdir -p $(@D)
	gcc $(PROGRAM_FLAGS) -pthread -o $@ $(filter %.c,$^)
$P/work-static: tests/programs/work.c
	@mkdir -p $(@D)
	gcc $(PROGRAM_FLAGS) -static -o $@ $<
programs: $P/tune $P/flush
$P/flush: tests/programs/flushes.c
	@mkdir -p $(@D)
	gcc $(PROGRAM_FLAGS) -static -pthread -o $@ $<
$P/tune: tests/programs/tune.c
	@mkdir -p $(@D)
	gcc $(PROGRAM_FLAGS) -static -o $@ $<
$P/work32: tests/programs/work.c
	@mkdir -p $(@D)
	gcc $(PROGRAM_FLAGS) -m32 -o $@ $<
$P/throws: tests/programs/throws.cc
	@mkdir -p $(@D)
	g++ $(PROGRAM_FLAGS) -o $@ $<
# The programs with one known bottleneck each, in two sets.
ZOO := $(patsubst tests/programs/zoo/%.c,$P/%,$(wildcard tests/programs/zoo/zoo_*.c))
SECOND := $(patsubst tests/programs/zoo-second/%.c,$P/%,$(wildcard tests/programs/zoo-second/second_*.c))
programs: $(ZOO) $(SECOND)
$(ZOO): $P/%: tests/programs/zoo/%.c tests/programs/zoo/zoo.h
$(SECOND): $P/%: tests/programs/zoo-second/%.c tests/programs/zoo/zoo.h
$(ZOO) $(SECOND):
	@mkdir -p $(@D)
	gcc -O2 -g -fno-pie -no-pie -static -pthread -o $@ $<
programs: $P/inlined $P/templates
$P/inlined $P/templates: $P/%: tests/programs/%.cc
	@mkdir -p $(@D)
	g++ -O2 -g -fno-pie -no-pie -o $@ $<
$P/reps $P/norep $P/jumps $P/by_cause: $P/%: tests/programs/%.S
	@mkdir -p $(@D)
	gcc -nostdlib -static -no-pie -o $@ $<
$P/l1_miss: tests/programs/l1_miss.S
	@mkdir -p $(@D)
	gcc -m32 -nostdlib -static -no-pie -o $@ $<
# For experiments/pentium4.sh: enough misses for 800 samples; for caches of up to 23 ways; the whole experiment.
$P/l1_miss-p4: L1_MISS := -DROUNDS=10100
$P/l1_miss-p4-wide: L1_MISS := -DROUNDS=3367 -DLOCATIONS=24
$P/l1_miss-p4-full: L1_MISS := -DROUNDS=10000000
$P/l1_miss-p4 $P/l1_miss-p4-wide $P/l1_miss-p4-full: tests/programs/l1_miss.S
	@mkdir -p $(@D)
	gcc -m32 -nostdlib -static -no-pie $(L1_MISS) -o $@ $<
programs: $P/wrongpath $P/disassemble $P/rearrive $P/big_profile $P/machine_stream
$P/disassemble $P/rearrive $P/big_profile $P/machine_stream: $P/%: tests/programs/%.c build/libsoftpmu.a
	@mkdir -p $(@D)
	gcc -std=gnu17 -g -O2 -Wall -Wextra -D_GNU_SOURCE -Iinclude -Isrc -o $@ $^ $(LDLIBS)

# Programs with include/softpmu/client.h.
programs: $P/client $P/client32 $P/client-cxx $P/features $P/crowd $P/client_records $P/client_records32 \
	$P/client_handler $P/client_handler32
CLIENT_FLAGS := $(PROGRAM_FLAGS) -Wall -Wextra -Iinclude -pthread
$P/client: tests/programs/client_program.c
$P/features: tests/programs/feature_writes.c
$P/crowd: tests/programs/crowd.c
$P/client $P/features $P/crowd: include/softpmu/client.h
	@mkdir -p $(@D)
	gcc $(CLIENT_FLAGS) -o $@ $(filter %.c,$^)
$P/client32: tests/programs/client_program.c include/softpmu/client.h
	@mkdir -p $(@D)
	gcc $(CLIENT_FLAGS) -m32 -o $@ $<
$P/client_records $P/client_handler: $P/%: tests/programs/%.c include/softpmu/client.h
	@mkdir -p $(@D)
	gcc $(CLIENT_FLAGS) -no-pie -o $@ $<
$P/client_records32 $P/client_handler32: $P/%32: tests/programs/%.c include/softpmu/client.h
	@mkdir -p $(@D)
	gcc $(CLIENT_FLAGS) -m32 -no-pie -o $@ $<
$P/client-cxx: tests/programs/client_program.c include/softpmu/client.h
	@mkdir -p $(@D)
	g++ -x c++ $(CLIENT_FLAGS) -o $@ $<

programs: $P/every_event $P/every_event32
$P/every_event $P/every_event32: tests/programs/every_event.c
	@mkdir -p $(@D)
	gcc $(PROGRAM_FLAGS) -Wall -Wextra -static -pthread $(if $(filter %32,$@),-m32 -msse2) -o $@ $<
programs: $P/denormals $P/denormals32
$P/denormals $P/denormals32: tests/programs/denormals.c
	@mkdir -p $(@D)
	gcc $(PROGRAM_FLAGS) -Wall -Wextra -static $(if $(filter %32,$@),-m32 -msse2) -o $@ $<
programs: $P/kinds
$P/kinds: tests/programs/kinds.S
	@mkdir -p $(@D)
	gcc -nostdlib -static -no-pie -o $@ $<
programs: $P/code_pages-2 $P/code_pages-3
$P/code_pages-%: tests/programs/code_pages.S
	@mkdir -p $(@D)
	gcc -nostdlib -static -no-pie -DROUNDS=$* -o $@ $<
-include tests/programs/trace.mk
# Loops for softpmu cost, with one kind of event each.
COST_mispredict := -DMISPREDICT
COST_l1 := -DBYTES=65536 -DSTRIDE=64
COST_l2 := -DBYTES=8388608 -DSTRIDE=256
COST_stall := -DSTALL
programs: $P/cost-mispredict $P/cost-l1 $P/cost-l2 $P/cost-stall
$P/cost-%: tests/programs/cost.S
	@mkdir -p $(@D)
	gcc -nostdlib -static -no-pie $(COST_$*) -o $@ $<
# Static, so that none of 32 runs executes the dynamic linker.
$P/advice: PROGRAM_FLAGS += -static

# Drives a browser, for the tests of pages.
programs: $P/browser
$P/browser: tests/browser/browser.c tests/browser/devtools.c tests/browser/devtools.h
	@mkdir -p $(@D)
	gcc -std=gnu17 -g -O2 -Wall -Wextra -D_GNU_SOURCE -o $@ $(filter %.c,$^) -ljson-c
