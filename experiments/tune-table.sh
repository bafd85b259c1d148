#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make tune-table: what softpmu tune finds for programs that need different settings; then the search beside every
# combination, on real programs.  docs/measured/tune.md has the output and what it shows.
#
# Environment: SOFTPMU, PROGRAMS (set by make).
set -u
SOFTPMU=${SOFTPMU:-build/softpmu} PROGRAMS=${PROGRAMS:-build/tests/programs}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export TMPDIR="$work"
# An environment of its own, so that the stack always begins at the same address.
tune() {
	env -i PATH=/usr/bin:/bin LC_ALL=C SOFTPMU_STORE="$work/store" TMPDIR="$work" "$SOFTPMU" tune --no-profile "$@"
}
failed=0
show() { # options... -- program...
	echo
	echo "\$ softpmu tune $*" | sed "s|$PROGRAMS/||"
	tune -o "$work/out" "$@" || failed=1
	sed -e "s|$PROGRAMS/||" -e 's/ *$//' "$work/out" | cat -s
}
times="--start measured --stop finished"
# shellcheck disable=SC2086
{
echo "1. A program that the adjacent-line prefetcher hurts, and one that prefetchers help: fewest cycles."
show --core skylake $times --features 'prefetch.*' -- "$PROGRAMS/tune" hurts 12
show --core skylake $times --features 'prefetch.*' -- "$PROGRAMS/tune" helps 4
echo "2. A program that needs only small caches and predictors: least energy within 1 % of the best time."
show --core skylake $times --objective energy-within:1% -- "$PROGRAMS/tune" small 400
}

echo "3. The search beside every combination, on golden-cove: least energy within 1 % of the best time."
echo
awk 'BEGIN {
	s = 42
	for (i = 0; i < 40; i++) {
		s = (s * 69069 + 1) % 4294967296
		printf "%d line %d of text, value %x\n", s % 1000, i, s
	}
}' >"$work/in"
features=prefetch.l2_streamer,prefetch.l2_adjacent,l2.size,btb.size
field() { sed -n "s/.*\"$2\": \"\{0,1\}\([^\",}]*\(,[a-z0-9_.]*=[^\",}]*\)*\)[\",}].*/\1/p" "$1" | tail -n 1; }
printf '%-16s %6s %6s %8s %8s  %s\n' program runs all cycles energy choice
for p in "gzip -c" "sort" "sha256sum" "od -c"; do
	for how in search "all"; do
		more=
		[ $how = all ] && more="--exhaustive 300"
		# shellcheck disable=SC2086
		tune --objective energy-within:1% --features $features --state "$work/state" $more -j \
			-o "$work/$how" -- $p "$work/in" >/dev/null || failed=1
	done
	for k in search all; do eval "$k=\$(($(field "$work/$k" ran) + $(field "$work/$k" known)))"; done
	change() {
		awk -v what="\"$1\": " '
		/^{"tried": ""/ { a = $0 }
		/^{"choice"/ { b = $0 }
		END { n = split(a, x, what); split(b, y, what);
			printf "%+.2f%%", 100 * (y[2] / x[2] - 1) }' "$work/search"
	}
	# shellcheck disable=SC2154
	printf '%-16s %6s %6s %8s %8s  %s\n' "$p" "$search" "$all" "$(change cycles)" "$(change energy_nj)" \
		"$(field "$work/search" choice)"
	[ "$(field "$work/search" choice)" = "$(field "$work/all" choice)" ] ||
		{ echo "  every combination: $(field "$work/all" choice)"; failed=1; }
	[ $((5 * search)) -le "$all" ] || { echo "  more than a fifth of the runs"; failed=1; }
done
exit $failed
