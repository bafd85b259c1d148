#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make graph-table: what classes of events cost in real programs, by the dependence graph of one run and by replays.
# The programs are those of bench/programs.sh with a tenth of the input; two million instructions of each are timed.
# docs/measured/cost.md has the output and what it shows.
#
# Environment: SOFTPMU (set by make); START: instructions before the timed ones; STOP: how many are timed.
set -u
SOFTPMU=${SOFTPMU:-build/softpmu} START=${START:-8000000} STOP=${STOP:-2000000}
cd "$(dirname "$0")/.." || exit 1
case $SOFTPMU in /*) ;; *) SOFTPMU=$PWD/$SOFTPMU ;; esac
# Always the same folder: Python's tables depend on the path of its script.
folder=$(dirname "$SOFTPMU")/graph-table work=$folder
mkdir -p "$folder" || exit 1
trap 'rm -rf "$folder"' EXIT INT TERM
export TMPDIR="$folder"
failed=0
. bench/programs.sh
head -n 2500 "$work/text" >"$work/less" && mv "$work/less" "$work/text"
sed -i 's/20000/2500/g; s/15000/1500/' "$work/query.sql"
sed -i 's/30000/4000/; s/150000/8000/' "$work/script.py"
cd "$folder" && work=. || exit 1
for p in ${PROGRAMS_SHOWN:-bzip2 xz gzip sqlite3 python3}; do
	echo
	echo "\$ softpmu cost --graph --better --replay-from 0.5 --start $START --stop $STOP -- $p ..."
	run "$p" "$SOFTPMU" cost --graph --better --replay-from 0.5 --start "$START" --stop "$STOP" -o "$work/out" -- ||
		{ failed=1; cat "$work/err"; }
	sed -n -e 's/^ Core: [^;]*; /   /p' -e '/^ Dependence graph/,/^ Decomposition/p' "$work/out" |
		sed '/^ Decomposition/d' | cat -s
done
exit $failed
