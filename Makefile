# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu.  `make help` lists the targets.
CC      ?= gcc
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
O       := $(if $(SAN),build/san,build)
, := ,
WARN    := -Wall -Wextra
OPT     := $(if $(SAN),-O1 -fsanitize=address$(,)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer,-O2)
CFLAGS  += -std=gnu17 -g $(WARN) $(OPT) -pthread
CPPFLAGS += -Iinclude -Isrc -D_GNU_SOURCE
VERSION  = $(shell sed -n 's/^\#define SOFTPMU_VERSION "\(.*\)"/\1/p' src/cli/main.c)
LDLIBS  := -lZydis -lpfm -ldw -lelf -lsqlite3 -ljson-c -lzstd -lz -liberty -lm -pthread

ROOMS   := util stream symbols isa core pmu machine run session analysis output native store sweep
LIB_SRC := $(wildcard $(ROOMS:%=src/%/*.c) $(ROOMS:%=src/%/*/*.c))
CLI_SRC := $(wildcard src/cli/*.c src/cli/*/*.c)
TEST_SRC := $(wildcard tests/unit/*/test_*.c)
TESTS   := $(foreach t,$(TEST_SRC),$O/tests/$(basename $(notdir $t)))
obj      = $(1:%.c=$O/obj/%.o)

.PHONY: all help demo check plots pictures tests fuzz bench install deb clean deps programs tracer FORCE
all: $O/softpmu $(if $(SAN),build/san/libexec,tracer)
build/san/libexec:		# the tracer itself is never sanitized
	@mkdir -p build/san && ln -sfn ../libexec $@

$O/softpmu: $(call obj,$(CLI_SRC)) $O/libsoftpmu.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
$O/libsoftpmu.a: $(call obj,$(LIB_SRC))
	rm -f $@ && ar rcs $@ $^
# The PMU alone, which is what others may link with (softpmu.map); the number changes with its ABI.
SONAME  := libsoftpmu.so.0
$O/pic/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -MMD -MP -c -o $@ $<
PIC     := $(patsubst %.c,$O/pic/%.o,$(filter src/pmu/%,$(LIB_SRC)))
$O/$(SONAME): $(PIC) src/pmu/library/softpmu.map
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(SONAME),--version-script=$(filter %.map,$^),--no-undefined \
	  -o $@ $(PIC)
ifneq ($(SAN),)
build/libsoftpmu.a: FORCE	# for programs of the system tests, which are never sanitized
	@$(MAKE) --no-print-directory SAN= $@
endif
$O/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$O/obj/src/core/steps_sse4.o: CFLAGS += -msse4.1
$O/obj/src/output/html/assets.o: $(wildcard src/output/html/page/*)	# which the assembler reads
vpath test_%.c $(sort $(dir $(TEST_SRC)))
# Objects of their own: a change of the library links the tests again, but compiles none.
$O/obj/tests/unit/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests/unit/fixtures $(CFLAGS) -MMD -MP -c -o $@ $<
$O/tests/%: $O/obj/tests/unit/%.o $O/obj/tests/unit/fixtures/one_test.o $O/libsoftpmu.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^ -lcmocka $(LDLIBS)
.SECONDARY: $(TESTS:$O/tests/%=$O/obj/tests/unit/%.o) $O/obj/tests/unit/fixtures/one_test.o

include src/valgrind/tracer.mk		# target `tracer`: build/libexec/softpmu-tracer-{amd64,x86}-linux
include tests/programs/programs.mk	# target `programs`: what the system tests run
include tests/native/native.mk		# the microbenchmarks, among `programs`
include tests/fuzz/fuzz.mk		# target `fuzz`: the fuzzers
include src/guest/guest.mk		# target `guest`: what runs inside a Linux guest of it
include src/machine/machine.mk		# target `machine`: build/libexec/softpmu-machine, and `check-machine`
include experiments/experiments.mk	# the targets that make the results in docs/measured

help:
	@echo 'make            softpmu and its tracer, in build/'
	@echo 'make demo       installs what is missing, builds, counts and profiles a real program'
	@echo 'make check      builds and runs all tests; SAN=1: under the address and undefined-behaviour sanitizers'
	@echo 'make machine    fetches Bochs from Debian and builds the whole machine; make check-machine tests it'
	@echo 'make tests      builds the unit tests; tests/run.sh build NAME runs one'
	@echo 'make fuzz       builds the fuzzers'
	@echo 'make bench      measures the speed of the model'
	@echo 'make plots      draws docs/plots/ again, from the tables in docs/measured'
	@echo 'make pictures   takes docs/pictures/ again, in a headless browser'
	@echo 'make install    PREFIX=/usr/local DESTDIR='
	@echo 'make deb        builds Debian packages, in build/deb/'
	@echo 'make deps       installs the Debian packages that all this needs'
	@echo 'make clean      removes build/'
	@echo 'Results for the documentation (experiments/):'
	@awk '/^[a-z0-9-]+:.*## / { printf "make %-14s  %s\n", substr($$1, 1, index($$1, ":") - 1), \
	  substr($$0, index($$0, "##") + 3) }' \
	  experiments/experiments.mk

# make demo and make check build as much at once as there are processors, unless -j says otherwise.
AT_ONCE  = $(if $(findstring j,$(filter-out --%,$(MAKEFLAGS))),,-j$(shell nproc))
deps:
	@tools/install-deps.sh
demo: deps
	@$(MAKE) --no-print-directory $(AT_ONCE) all && tools/demo.sh
check: deps
	@tools/install-deps.sh readers
	@$(MAKE) --no-print-directory $(AT_ONCE) all tracer programs tests SAN=$(SAN) && tests/run.sh $O
plots:
	@tools/install-deps.sh plots
	@tools/docs/plots.sh

pictures: all programs
	@tools/install-deps.sh pictures
	@tools/docs/pictures.sh
tests: $(TESTS) $(if $(SAN),,fuzz $O/accuracy)

bench: deps
	@$(MAKE) --no-print-directory all programs
	@bench/bench.sh
# The program that compares the model with measured machines: for `make accuracy`, and a test of its own.
$O/accuracy: $(wildcard tests/accuracy/*.c) tests/accuracy/accuracy.h $O/libsoftpmu.a
	$(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $(filter %.c,$^) $O/libsoftpmu.a $(LDLIBS)

TO       = $(DESTDIR)$(PREFIX)
TO_LIB   = $(DESTDIR)$(LIBDIR)
install: all $O/$(SONAME)
	install -d "$(TO)/bin" "$(TO)/libexec/softpmu" "$(TO)/share/man/man1" "$(TO)/share/man/man3" \
	  "$(TO)/include/softpmu" "$(TO_LIB)/pkgconfig" \
	  $(foreach d,cores uops events metrics energy,"$(TO)/share/softpmu/$d")
	install build/softpmu "$(TO)/bin"
	install build/libexec/* "$(TO)/libexec/softpmu"
	install -m 644 data/cores/*.conf "$(TO)/share/softpmu/cores"
	install -m 644 data/uops/*.tsv "$(TO)/share/softpmu/uops"
	install -m 644 data/events/*.tsv "$(TO)/share/softpmu/events"
	install -m 644 data/metrics/*.tsv "$(TO)/share/softpmu/metrics"
	install -m 644 data/energy/*.tsv "$(TO)/share/softpmu/energy"
	install -m 644 docs/softpmu.1 "$(TO)/share/man/man1"
	install -d "$(TO)/share/bash-completion/completions"
	install -m 644 completions/softpmu "$(TO)/share/bash-completion/completions"
	install -m 644 docs/softpmu-pmu.3 "$(TO)/share/man/man3"
	install -m 644 include/softpmu/* "$(TO)/include/softpmu"
	install -m 644 build/libsoftpmu.a $O/$(SONAME) "$(TO_LIB)"
	ln -sf $(SONAME) "$(TO_LIB)/libsoftpmu.so"
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' src/pmu/library/softpmu.pc.in \
	  >"$(TO_LIB)/pkgconfig/softpmu.pc"

# Debian packages of the last commit, in build/deb/.  The packages that this needs: tools/install-deps.sh packaging
deb:
	@tools/install-deps.sh packaging
	@rm -rf build/deb && mkdir -p build/deb/softpmu
	@git archive HEAD | tar x -C build/deb/softpmu
	cd build/deb/softpmu && dpkg-buildpackage -us -uc -b
	@rm -rf build/deb/softpmu && ls build/deb/*.deb
clean:
	rm -rf build

-include $(shell find $O build/fuzz -name '*.d' 2>/dev/null)
