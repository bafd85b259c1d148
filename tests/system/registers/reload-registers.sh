#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Dynamic recompilation (docs/examples/reload.sh): a running host process loads the build that softpmu chose and
# computes the same with it.
. "$TOP/tests/lib.sh"
sh "$TOP/docs/examples/reload.sh" "$work" 20000 >out 2>err; check "the example runs without error" [ $? = 0 ] || cat err
check "the example chooses flags by modelled cycles" grep -q '^fewest modelled cycles: -O' out
check "the chosen build has the fewest cycles" [ "$(sed -n 's/.*"cycles":\([0-9]*\).*/\1/p' builds.json | sort -n |
	head -n 1)" = \
	"$(grep -F "{\"build\":\"$(sed -n 's/^fewest modelled cycles: //p' out)\"," builds.json |
	sed 's/.*"cycles":\([0-9]*\).*/\1/')" ]
check "the chosen build is not -O1" [ "$(sed -n 's/^fewest modelled cycles: //p' out)" != -O1 ]
check "the host loads the build while it runs" grep -q '^build 2: 20000 rounds' out
sums=$(sed -n 's/^build .: 20000 rounds.* sum //p' out | sort -u | wc -l)
check "all builds compute the same" [ "$sums" = 1 ]
[ $failed = 0 ] || cat out
exit $failed
