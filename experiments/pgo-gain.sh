#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Improves a program by its own profile, on a machine without a PMU.  The program is built, sampled with branch
# stacks in the model (softpmu record -b), rebuilt with an AutoFDO profile, and its binary rewritten by BOLT.  Then
# all builds are timed natively.
#
#   pgo-gain.sh [SOURCE.c [ARGUMENTS FOR THE PROFILE -- ARGUMENTS TO TIME]]
#
# The default is the program of tests/programs/branchy.sh.
#
# The program prints the seconds of CPU to count as its last line.  DWARF 4 is used, because create_gcov and
# create_llvm_prof of AutoFDO 0.19 find nothing in DWARF 5.
# Environment: SOFTPMU; OUT: where files go, default build/pgo; RUNS: timed runs of each build, of which the least
# counts, default 9; ROUNDS of each run. Packages: autofdo, bolt-16 (or another), gcc, clang, linux-perf; gcc-11
# for GCC's own AutoFDO.  A build whose tools are not installed has no line.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
SOFTPMU=${SOFTPMU:-$top/build/softpmu} OUT=${OUT:-$top/build/pgo} RUNS=${RUNS:-9}
mkdir -p "$OUT" || exit 1
source=${1:-}
if [ "$source" ]; then
	source=$(readlink -f "$source"); shift
	training=
	while [ $# -gt 0 ] && [ "$1" != -- ]; do training="$training $1"; shift; done
	[ $# -gt 0 ] && shift
	timing=$*
else
	source=$OUT/branchy.c training=300 timing="${ROUNDS:-200000} time"
	sh "$top/tests/programs/branchy.sh" >"$source" || exit 1
fi
cd "$OUT" || exit 1
newest() {	# TOOL: on the PATH, or the newest of Debian's LLVM directories
	command -v "$1" && return
	ls -d /usr/lib/llvm-*/bin/"$1" 2>/dev/null | sort -t- -k2 -n | tail -n 1
}
perf2bolt=$(newest perf2bolt) bolt=$(newest llvm-bolt) clang=$(command -v clang)
flags='-O2 -gdwarf-4 -fno-pie -no-pie -Wl,--build-id'
variants=
built() { variants="$variants $1"; }	# NAME
say() { echo "\$ $*"; "$@"; }

# shellcheck disable=SC2086
say gcc $flags -Wl,--emit-relocs -fno-reorder-blocks-and-partition -o gcc "$source" || exit 1
# shellcheck disable=SC2086
say "$SOFTPMU" record -q -b -c 2003 -o gcc.data ./gcc $training >gcc.out || exit 1
built gcc
if command -v create_gcov >/dev/null; then
	say create_gcov --binary=./gcc --profile=gcc.data --gcov=gcc.afdo --gcov_version=2 2>create_gcov.log ||
		{ cat create_gcov.log; exit 1; }
	dump_gcov --gcov_version=2 gcc.afdo >gcc.afdo.txt 2>/dev/null
	[ "$(grep -c ': [1-9]' gcc.afdo.txt)" -gt 10 ] || { echo "pgo: the AutoFDO profile is empty"; exit 1; }
	echo "  the profile names $(grep -c ' total:' gcc.afdo.txt) functions"
	# create_gcov 0.19 writes the length of strings in words. GCC 12 expects bytes and crashes. Older
	# versions of GCC need version 1 of the format.
	for old in gcc-11 gcc-10; do
		command -v $old >/dev/null || continue
		# shellcheck disable=SC2086
		say $old $flags -o $old "$source" && built $old
		create_gcov --binary=./gcc --profile=gcc.data --gcov=$old.afdo --gcov_version=1 2>/dev/null
		# shellcheck disable=SC2086
		say $old $flags -fauto-profile=$old.afdo -o $old-autofdo "$source" && built $old-autofdo
		break
	done
	if [ "$clang" ]; then
		# shellcheck disable=SC2086
		say "$clang" $flags -o clang "$source" && built clang
		# shellcheck disable=SC2086
		say "$SOFTPMU" record -q -b -c 2003 -o clang.data ./clang $training >clang.out || exit 1
		if say create_llvm_prof --binary=./clang --profile=clang.data --out=clang.prof --format=text \
			2>create_llvm_prof.log
		then
			# shellcheck disable=SC2086
			say "$clang" $flags -fprofile-sample-use=clang.prof -o clang-autofdo "$source" || exit 1
			built clang-autofdo
		elif grep -q 'LLVM .* not enabled' create_llvm_prof.log; then
			echo "  this AutoFDO was built without LLVM, so it makes no profile for clang"
		else
			cat create_llvm_prof.log
			exit 1
		fi
	fi
fi
if [ "$perf2bolt" ] && [ "$bolt" ] && command -v perf >/dev/null; then
	say "$perf2bolt" -p gcc.data -o gcc.fdata ./gcc >perf2bolt.log 2>&1 || { cat perf2bolt.log; exit 1; }
	grep -E 'LBR entries|mismatching|out of range' perf2bolt.log | sed 's/^PERF2BOLT:/ /'
	say "$bolt" ./gcc -o gcc-bolt -data=gcc.fdata -reorder-blocks=ext-tsp -reorder-functions=hfsort \
		-split-functions -split-all-cold >bolt.log 2>&1 ||
		{ cat bolt.log; exit 1; }
	grep -E 'have non-empty execution profile|splitting separates' bolt.log | sed 's/^BOLT-INFO:/ /'
	built gcc-bolt
fi

# The builds take turns, so that other work on the machine slows all of them alike.
for v in $variants; do : >"$v.time"; done
i=0
while [ $i -lt "$RUNS" ]; do
	# shellcheck disable=SC2086
	for v in $variants; do "./$v" $timing >"$v.out" && tail -n 1 "$v.out" >>"$v.time"; done
	i=$((i + 1))
done
echo
echo "Natively, the least of $RUNS runs of $timing:"
status=0
for v in $variants; do
	base=${v%-autofdo}; base=${base%-bolt}
	head -n 1 "$base.out" >want
	head -n 1 "$v.out" | cmp -s - want || { echo "pgo: $v computes something else"; status=1; }
	awk -v name="$v" -v base="$(sort -n "$base.time" | head -n 1)" -v t="$(sort -n "$v.time" | head -n 1)" \
		'BEGIN {
			printf "  %-16s %8.3f s", name, t
			if (name ~ /(autofdo|bolt)$/) printf "   %+6.1f %% speed", 100 * (base / t - 1)
			print ""
		}'
done
exit $status
