#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A hypervisor of the tests' own (tests/machine/hypervisor.c) hands its PMU to an inner guest: counts, the DS area and
# PEBS records are the inner guest's, and PEBS reloads from registers.
. "$TOP/tests/lib.sh"
[ -x "$TOP/build/libexec/softpmu-machine" ] || skip "the whole machine is not built (make machine)"
sh "$TOP/tests/machine/build-kernel.sh" "$TOP/tests/machine" inner.rom hypervisor ||
	{ bad "the hypervisor is built"; exit 1; }

machine() {	# NAME OPTION...
	name=$1; shift
	timeout 100 "$SOFTPMU" machine --rom inner.rom --memory 64 --core golden-cove --report "$name.report" "$@" \
		>"$name" 2>err
}
machine one --pebs-reload-msrs
same "exit status of the hypervisor" $? 0
cat one err
hasnt "no claim of the hypervisor is wrong" '^bad' one
has "all of them are checked" '^all good$' one
machine two --pebs-reload-msrs
same_files "a second run prints the same" one two
same_files "and executes and times the same" one.report two.report
machine without
has "without these registers it cannot hand one over" '^bad the inner guest ran to its end' without
exit $failed
