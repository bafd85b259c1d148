# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu: make | make demo | make check [SAN=1] | make bench | make accuracy [DATA=DIR] | make ablation [DATA=DIR] | make p4 [FULL=1] | make cost-table | make graph-table | make tune-table | make slow-to-tuned | make cost-native | make tune-native tune-software | make pgo | make install PREFIX=/usr/local
CC      ?= gcc
PREFIX  ?= /usr/local
O       := $(if $(SAN),build/san,build)
, := ,
WARN    := -Wall -Wextra
OPT     := $(if $(SAN),-O1 -fsanitize=address$(,)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer,-O2)
CFLAGS  += -std=gnu17 -g $(WARN) $(OPT) -pthread
CPPFLAGS += -Iinclude -Isrc -D_GNU_SOURCE
VERSION  = $(shell sed -n 's/^\#define SOFTPMU_VERSION "\(.*\)"/\1/p' src/cli/main.c)
LDLIBS  := -lZydis -lpfm -ldw -lelf -lsqlite3 -lzstd -lz -liberty -lm -pthread

ROOMS   := util stream symbols isa core pmu run session analysis output native store
LIB_SRC := $(wildcard $(ROOMS:%=src/%/*.c) $(ROOMS:%=src/%/*/*.c))
CLI_SRC := $(wildcard src/cli/*.c src/cli/*/*.c)
TEST_SRC := $(wildcard tests/unit/*/test_*.c)
TESTS   := $(foreach t,$(TEST_SRC),$O/tests/$(basename $(notdir $t)))
obj      = $(1:%.c=$O/obj/%.o)

.PHONY: all demo check tests fuzz bench topdown accuracy ablation p4 cost-table graph-table tune-table slow-to-tuned cost-native tune-native tune-software pgo install clean deps programs FORCE
all: $O/softpmu $(if $(SAN),build/san/libexec,tracer)
build/san/libexec:		# the tracer itself is never sanitized
	@mkdir -p build/san && ln -sfn ../libexec $@

$O/softpmu: $(call obj,$(CLI_SRC)) $O/libsoftpmu.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
$O/libsoftpmu.a: $(call obj,$(LIB_SRC))
	rm -f $@ && ar rcs $@ $^
ifneq ($(SAN),)
build/libsoftpmu.a: FORCE	# for programs of the system tests, which are never sanitized
	@$(MAKE) --no-print-directory SAN= $@
endif
$O/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$O/obj/src/core/steps_sse4.o: CFLAGS += -msse4.1
vpath test_%.c $(sort $(dir $(TEST_SRC)))
$O/tests/%: %.c $O/obj/tests/unit/fixtures/one_test.o $O/libsoftpmu.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests/unit/fixtures $(CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(filter %.o %.a,$^) -lcmocka $(LDLIBS)

include src/valgrind/tracer.mk		# target `tracer`: build/libexec/softpmu-tracer-{amd64,x86}-linux
include tests/programs/programs.mk	# target `programs`: what the system tests run
include tests/native/native.mk		# the microbenchmarks, among `programs`

deps:
	@tools/install-deps.sh
demo: deps
	@$(MAKE) --no-print-directory all && tools/demo.sh
check: deps
	@tools/install-deps.sh readers
	@$(MAKE) --no-print-directory all tracer programs tests SAN=$(SAN) && tests/run.sh $O
tests: $(TESTS) $(if $(SAN),,fuzz $O/accuracy)

# Fuzzers: libFuzzer harnesses on the libraries, built by clang under its sanitizers; tests/system/tree/fuzz.sh runs them.
FUZZERS := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_CC := clang-14 -std=gnu17 -g -O1 -Wall -Wextra -fno-sanitize-recover=undefined
fuzz: $(FUZZERS)
build/fuzz/obj/%.o: %.c
	@mkdir -p $(@D)
	$(FUZZ_CC) -fsanitize=fuzzer-no-link,address,undefined $(CPPFLAGS) -MMD -MP -c -o $@ $<
build/fuzz/lib.a: $(LIB_SRC:%.c=build/fuzz/obj/%.o)
	rm -f $@ && ar rcs $@ $^
build/fuzz/%: tests/fuzz/%.c build/fuzz/lib.a
	$(FUZZ_CC) -fsanitize=fuzzer,address,undefined $(CPPFLAGS) -Itests/unit/fixtures -o $@ $(filter %.c,$^) build/fuzz/lib.a $(LDLIBS)
build/fuzz/fuzz_pmu_model: $(wildcard tests/fuzz/naive_*.c tests/fuzz/naive_*.h)
bench: deps
	@$(MAKE) --no-print-directory all programs
	@bench/bench.sh
topdown: all
	@experiments/topdown-trees.sh
# The model beside measured machines; DATA: where the measurements are.
DATA ?= ../shared/data
accuracy: $O/accuracy all build/native/micro build/native/timed build/native/streams
	@experiments/accuracy-page.sh $O/accuracy $(DATA)
# What each mechanism of the core is worth there.
ablation: $O/accuracy
	@experiments/ablation.sh $O/accuracy $(DATA)
$O/accuracy: $(wildcard tests/accuracy/*.c) tests/accuracy/accuracy.h $O/libsoftpmu.a
	$(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $(filter %.c,$^) $O/libsoftpmu.a $(LDLIBS)
p4: all $(P)/l1_miss-p4 $(P)/l1_miss-p4-wide $(if $(FULL),$(P)/l1_miss-p4-full)
	@SOFTPMU=build/softpmu PROGRAMS=$(P) FULL=$(FULL) experiments/pentium4.sh
cost-table: all $P/cost-mispredict $P/cost-l1 $P/cost-l2
	@SOFTPMU=build/softpmu PROGRAMS=$P experiments/cost-table.sh
# Costs by the dependence graph beside those by replays.
graph-table: all
	@SOFTPMU=build/softpmu experiments/graph-table.sh
# What a mispredict and an L2 miss cost by total time, under the model of this host and on it.
cost-native: all programs
	@experiments/cost-native.sh
tune-native: all programs
	@experiments/tune-native-page.sh
slow-to-tuned: all
	@SOFTPMU=build/softpmu experiments/slow-to-tuned.sh
tune-table: all $P/tune
	@SOFTPMU=build/softpmu PROGRAMS=$P experiments/tune-table.sh
pgo: all
	@SOFTPMU=$(CURDIR)/build/softpmu experiments/pgo-gain.sh
tune-software: all
	@SOFTPMU=$(CURDIR)/build/softpmu OUT=$(CURDIR)/build/tune-software experiments/tune-software.sh
TO       = $(DESTDIR)$(PREFIX)
install: all
	install -d "$(TO)/bin" "$(TO)/libexec/softpmu" "$(TO)/share/man/man1" "$(TO)/share/man/man3" "$(TO)/include/softpmu" "$(TO)/lib/pkgconfig" \
	  $(foreach d,cores uops events metrics energy,"$(TO)/share/softpmu/$d")
	install build/softpmu "$(TO)/bin"
	install build/libexec/* "$(TO)/libexec/softpmu"
	install -m 644 data/cores/*.conf "$(TO)/share/softpmu/cores"
	install -m 644 data/uops/*.tsv "$(TO)/share/softpmu/uops"
	install -m 644 data/events/*.tsv "$(TO)/share/softpmu/events"
	install -m 644 data/metrics/*.tsv "$(TO)/share/softpmu/metrics"
	install -m 644 data/energy/*.tsv "$(TO)/share/softpmu/energy"
	install -m 644 docs/softpmu.1 "$(TO)/share/man/man1"
	install -m 644 docs/softpmu-pmu.3 "$(TO)/share/man/man3"
	install -m 644 include/softpmu/* "$(TO)/include/softpmu"
	install -m 644 build/libsoftpmu.a "$(TO)/lib"
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' src/pmu/softpmu.pc.in >"$(TO)/lib/pkgconfig/softpmu.pc"
clean:
	rm -rf build

-include $(shell find $O build/fuzz -name '*.d' 2>/dev/null)
