#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Dynamic recompilation (docs/examples/reload.sh): the host that runs takes the build that softpmu chose, and
# computes with it what it computed before.
. "$TOP/tests/lib.sh"
sh "$TOP/docs/examples/reload.sh" "$work" 20000 >out 2>err; check "the example runs" [ $? = 0 ] || cat err
check "flags are chosen by the model" grep -q '^fewest modelled cycles: -O' out
check "they are those with the fewest cycles" [ "$(sed -n 's/.*"cycles":\([0-9]*\).*/\1/p' builds.json | sort -n |
	head -n 1)" = \
	"$(grep -F "{\"build\":\"$(sed -n 's/^fewest modelled cycles: //p' out)\"," builds.json |
	sed 's/.*"cycles":\([0-9]*\).*/\1/')" ]
check "-O1 does not have them" [ "$(sed -n 's/^fewest modelled cycles: //p' out)" != -O1 ]
check "the host takes it while it runs" grep -q '^build 2: 20000 rounds' out
sums=$(sed -n 's/^build .: 20000 rounds.* sum //p' out | sort -u | wc -l)
check "and computes the same" [ "$sums" = 1 ]
[ $failed = 0 ] || cat out
exit $failed
