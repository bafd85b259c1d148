#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# softpmu tune --software --build: the build with the fewest cycles is chosen. Builds that print something else, fail,
# or cannot be built are excluded. If BOLT and AutoFDO are installed, they use the branch stacks of the best build.
# Refusals.
. "$TOP/tests/lib.sh"
cat >prog.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	unsigned long long x = 88172645463325252ull, sum = 0;
	for (int i = 0; i < atoi(argv[argc - 1]); i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		if (x % 16 == 3)
			sum += x >> 60;
		else
			sum ^= x & 1023;
	}
#ifdef WRONG
	sum++;
#endif
#ifdef FAILS
	return 3;
#endif
	printf("%llu\n", sum);
	return 0;
}
EOF
tune() { "$SOFTPMU" tune --software "$@" >"$work/out" 2>"$work/err"; }
field() { sed -n "s/^{\"build\":\"$1\",.*\"$2\":\"*\([^,\"}]*\).*/\1/p" "$work/table"; }	# BUILD KEY
check "tune --build compares the builds" \
	tune --build 'gcc {flags} -o {out} prog.c' --flags -O0 --flags -O2 --flags '-O2 -DWRONG' \
	--flags '-O2 -DFAILS' --flags '-O2 -no-such-flag' \
	--bolt --no-native --dir builds -j -o table -- ./prog 60000 || cat err
cat table
check "the optimised build takes fewer cycles" awk -v g="$(field -O2 gain)" 'BEGIN { exit !(g > 0.05) }'
check "a build that prints something else is excluded" [ "$(field '-O2 -DWRONG' out)" = "prints something else" ]
check "a build whose program fails is excluded" [ "$(field '-O2 -DFAILS' out)" = "the program failed" ]
check "a build whose command fails is excluded" [ "$(field '-O2 -no-such-flag' out | cut -c1-13)" = "was not built" ]
check "the program's output is not mixed with the table" [ ! -s out ]
bolt=$(field '-O2 + BOLT' cycles)
case $(field '-O2 + BOLT' out) in
*installed*) echo "BOLT is not installed";;
*) check "BOLT rewrites the best build: $bolt cycles" [ "${bolt:-0}" -gt 0 ] || cat builds/*.log;;
esac
refused() { tune "$@"; [ $? = 2 ]; }
check "a template without {out} is refused" refused --build 'gcc {flags} prog.c' -- ./prog 1
check "--bolt without --build is refused" refused --bolt -- ./prog 1
check "--build with --replay is refused" refused --build 'gcc {flags} -o {out} prog.c' --replay stream
check "a first build that fails ends the comparison" \
	[ "$(tune --build 'false {flags} {out}' --dir builds -- ./prog 1; echo $?)" \
	= 1 ]
exit $failed
