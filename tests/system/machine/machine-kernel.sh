#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole machine, seen from inside: a kernel of the tests' own (tests/machine) reads and programs the PMU at both
# privilege levels.  Two runs are equal.
. "$TOP/tests/lib.sh"
[ -x "$TOP/build/libexec/softpmu-machine" ] || skip "the whole machine is not built (make machine)"
sh "$TOP/tests/machine/build-kernel.sh" "$TOP/tests/machine" kernel.rom || { bad "the tests' kernel is built"; exit 1; }

timeout 100 "$SOFTPMU" machine --rom kernel.rom --memory 64 --report one.report >one 2>err
same "exit status of the kernel" $? 0
cat one err
hasnt "no claim of the kernel is wrong" '^bad' one
has "all of them are checked" '^all good$' one
timeout 100 "$SOFTPMU" machine --rom kernel.rom --memory 64 --report two.report >two 2>err
same_files "a second run prints the same" one two
same_files "and executes and times the same" one.report two.report
value() { sed -n "s/^$2=//p" "$1"; }
nonzero "kernel instructions are timed" "$(value one.report instructions_kernel)"
nonzero "user instructions are timed" "$(value one.report instructions_user)"

timeout 100 "$SOFTPMU" machine --rom kernel.rom --memory 64 --timing marked >marked 2>err
has "without a mark no counter moves" '^bad instructions at CPL 3: 0 for 2002' marked
exit $failed
