#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole machine's memory, seen from inside by a kernel of the tests' own (tests/machine/memory_kernel.c): its page
# tables, TLB flushes, and lines that two processors share.  Two runs are equal.
. "$TOP/tests/lib.sh"
[ -x "$TOP/build/libexec/softpmu-machine" ] || skip "the whole machine is not built (make machine)"
sh "$TOP/tests/machine/build-kernel.sh" "$TOP/tests/machine" kernel.rom memory_kernel ||
	{ bad "the kernel is built"; exit 1; }

for cpus in 1 2; do
	more=
	[ $cpus = 1 ] || more="--cpus $cpus"
	[ $cpus = 1 ] || "$SOFTPMU" machine --help | grep -q -- --cpus || continue
	# shellcheck disable=SC2086
	timeout 100 "$SOFTPMU" machine --rom kernel.rom --memory 64 $more --report one.report >one 2>err
	same "exit status of the kernel with $cpus" $? 0
	cat one err
	hasnt "no claim of the kernel is wrong" '^bad' one
	has "all of them are checked" '^all good$' one
	# shellcheck disable=SC2086
	timeout 100 "$SOFTPMU" machine --rom kernel.rom --memory 64 $more --report two.report >two 2>err
	same_files "a second run prints the same" one two
	same_files "and executes and times the same" one.report two.report
	[ $cpus = 1 ] || has "both processors run" '^two processors$' one
done
exit $failed
