#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Regenerates the rows of instruction forms in data/uops/*.tsv from LLVM's scheduling models and the measurements in
# DATA (rules: tools/uops/generate_uops.py).  The rows above its mark are written by hand and stay.  Takes about two
# minutes.
#
#   DATA=../shared/data tools/uops/generate_uops.sh [UARCH...]
#
# The default is all tables.  zen3, zen4 and zen5 are made by zen.py; core2, pentium3, willamette, prescott and pentium
# by older.py.
#
#   FOLDS=N DATA=../shared/data tools/uops/generate_uops.sh UARCH...
#
# For the cores of older.py only: judges its rules by the rows that they may see, and writes no table.  It leaves out
# every Nth of these rows in turn (never the held-out fifth), and prints how many of those a table made from the
# others gets right (MISSED=1: which ones it does not).
#
# Needs Debian's llvm-19 (apt-get install llvm-19), python3 and a built libsoftpmu.a (make).  The same inputs give
# the same files.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
data=${DATA:-../shared/data}
for tool in llvm-mc-19 llvm-exegesis-19 python3; do
	command -v "$tool" >/dev/null || {
		echo "generate_uops.sh: $tool is missing: run apt-get install llvm-19 python3" >&2; exit 1; }
done
[ -d "$data/instlat" ] || {
	echo "generate_uops.sh: $data/instlat does not exist: set DATA to the measurements" >&2; exit 1; }
[ -f build/libsoftpmu.a ] || { echo "generate_uops.sh: build/libsoftpmu.a is missing: run make first" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
${CC:-gcc} -std=gnu17 -O1 -Wall -Wextra -D_GNU_SOURCE -Iinclude -Isrc -o "$work/forms" tools/uops/list_forms.c \
	build/libsoftpmu.a -lZydis
if [ -z "${FOLDS:-}" ]; then
	python3 -B tools/uops/generate_uops.py "$top" "$work/forms" "$data" "$work" "$@"
	exit
fi
[ -x build/accuracy ] || { echo "generate_uops.sh: build/accuracy is missing: run make build/accuracy" >&2; exit 1; }
for k in $(seq 0 $((FOLDS - 1))); do
	mkdir "$work/$k"
	cp -r data "$work/$k/data"
done
python3 -B tools/uops/generate_uops.py "$work" "$work/forms" "$data" "$work" "$@" >/dev/null
for uarch; do
	for k in $(seq 0 $((FOLDS - 1))); do
		FOLD=$k/$FOLDS MCA=0 build/accuracy "$data" "$work/$k/data" "$uarch"
	done | awk -F '[|]' -v uarch="$uarch" '
		$3 == " left out " { n[$2] += $4; good[$2] += $4 * $5 / 100; mean[$2] += $4 * $6 }
		END { for (w in n) printf "%-11s%s %4d left out, %.1f %% good, mean abs. error %.2f %%\n",
			uarch, w, n[w], 100 * good[w] / n[w], mean[w] / n[w] }' | sort
done
