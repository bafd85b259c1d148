# SPDX-License-Identifier: GPL-2.0-or-later
# The whole machine: Bochs, which tools/machine/build-machine.sh fetches and builds, around libsoftpmu.a.  Nothing else
# needs it.
.PHONY: machine check-machine
machine: $O/libsoftpmu.a guest
	@tools/install-deps.sh machine
	@MACHINE_JOBS=$(shell nproc) tools/machine/build-machine.sh "$(CURDIR)/$O/libsoftpmu.a" -lZydis -lzstd
check-machine: all machine
	@tests/run.sh $O machine
