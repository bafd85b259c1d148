# SPDX-License-Identifier: GPL-2.0-or-later
# Fuzzers: libFuzzer harnesses on the libraries, built by clang with its sanitizers.  tests/system/tree/fuzz.sh
# runs them, those of the PMUs with a timeout of one second for each input; .ci/run fuzz runs each for ten minutes.
FUZZERS := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_CC := clang -std=gnu17 -g -O1 -Wall -Wextra -fno-sanitize-recover=undefined
fuzz: $(FUZZERS) build/fuzz/softpmu
build/fuzz/obj/%.o: %.c
	@mkdir -p $(@D)
	$(FUZZ_CC) -fsanitize=fuzzer-no-link,address,undefined $(CPPFLAGS) -MMD -MP -c -o $@ $<
build/fuzz/lib.a: $(LIB_SRC:%.c=build/fuzz/obj/%.o)
	rm -f $@ && ar rcs $@ $^
# The program under the same sanitizers, from the same objects, for tests/system/tree/every-command.sh.
build/fuzz/softpmu: $(CLI_SRC:%.c=build/fuzz/obj/%.o) build/fuzz/lib.a
	@ln -sfn ../libexec build/fuzz/libexec
	$(FUZZ_CC) -fsanitize=fuzzer-no-link,address,undefined -o $@ $^ $(LDLIBS)
build/fuzz/%: tests/fuzz/%.c build/fuzz/lib.a
	$(FUZZ_CC) -fsanitize=fuzzer,address,undefined $(CPPFLAGS) -Itests/unit/fixtures \
	  -o $@ $(filter %.c,$^) build/fuzz/lib.a $(LDLIBS)
$(filter build/fuzz/fuzz_pmu%,$(FUZZERS)): tests/fuzz/fuzz_models.h
build/fuzz/fuzz_live_points build/fuzz/fuzz_machine_stream: tests/fuzz/fuzz_stream.h
build/fuzz/fuzz_pmu_model: $(wildcard tests/fuzz/naive_*.c tests/fuzz/naive_*.h)
