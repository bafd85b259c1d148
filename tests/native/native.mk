# SPDX-License-Identifier: GPL-2.0-or-later
# build/native/micro: the microbenchmarks, one static program for the host and for the model.
# Static, so that no instructions of the loader count.
programs: build/native/micro
build/native/micro: tests/native/micro.c tests/native/kernels.S
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -g -O2 $(WARN) -D_GNU_SOURCE -static -o $@ $^
# build/native/timed: user-level cycles of a program on the host, for tests/accuracy/real.sh.
programs: build/native/timed
build/native/timed: tests/native/timed.c tests/native/segments.c tests/native/segments.h tests/native/resident.h
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -g -O2 $(WARN) -D_GNU_SOURCE -static -o $@ $(filter %.c,$^)
# build/native/marks: cuts a program's run into segments, for timed -m.
programs: build/native/marks
build/native/marks: tests/native/marks.c build/libsoftpmu.a
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -g -O2 $(WARN) -D_GNU_SOURCE -Isrc -o $@ $^ -lzstd -lpthread
# build/native/resident.so: keeps page faults out of these cycles.
programs: build/native/resident.so
build/native/resident.so: tests/native/resident.c tests/native/resident.h
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -g -O2 $(WARN) -D_GNU_SOURCE -shared -fPIC -o $@ $<
# build/native/streams: streams of memory, natively and for the model (docs/measured/accuracy.md, "Streams of memory").
programs: build/native/streams
build/native/streams: tests/native/streams.c
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -g -O2 $(WARN) -D_GNU_SOURCE -static -o $@ $^
