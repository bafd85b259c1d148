#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Dynamic recompilation: a program runs with a shared object.  Meanwhile softpmu chooses compiler flags for it by
# modelled cycles.  The script builds the object again and puts it into place; the program loads it at its next safe
# point.
# reload.sh [FOLDER TO WORK IN [ROUNDS]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
SOFTPMU=${SOFTPMU:-softpmu}
cd "${1:-.}"
rounds=${2:-20000}
gcc -O2 -o reload "$here/reload.c" -ldl
gcc -O1 -fPIC -shared -o work.so "$here/reload_work.c"
./reload ./work.so 2 "$rounds" & host=$!
trap 'kill $host 2>/dev/null || true' EXIT
"$SOFTPMU" tune --software --build "gcc {flags} -DALONE -o {out} $here/reload_work.c" \
	--flags -O1 --flags -O2 --flags -O3 --flags '-O3 -mavx2' --no-native -j -o builds.json -- ./work 16
flags=$(sed -n 's/^{"build":"\([^"]*\)",.*"cycles":\([0-9]*\),.*/\2 \1/p' builds.json | sort -n | head -n 1 |
	cut -d' ' -f2-)
echo "fewest modelled cycles: $flags"
# shellcheck disable=SC2086
gcc $flags -fPIC -shared -o work.so.new "$here/reload_work.c"
mv work.so.new work.so		# one step, and another inode
wait $host
trap - EXIT
