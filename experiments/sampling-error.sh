#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# How far each way of sampling is from the exact profile, on three programs that every system has:
# sampling-error.sh [CORE [PERIOD [TIMES]]].  There is one sample every PERIOD cycles (or instructions); TIMES
# multiplies the input.  The ways: cycles imprecisely and by PEBS (where the core has it), instructions by PDist or
# PDIR, and time-proportional samples.  OPTIONS in the environment: more options of softpmu record.
# docs/measured/sampling-error.md has the output.
set -u
core=${1:-golden-cove} period=${2:-211} times=${3:-1}
softpmu=${SOFTPMU:-build/softpmu}
case $softpmu in /*) ;; *) softpmu=$PWD/$softpmu ;; esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work" || exit 1
case $core in
golden-cove) events=cycles,cycles:pp,instructions:ppp ;;
pentium3 | pentium) events=cycles ;;
*) events=cycles,cycles:pp ;;
esac
awk -v n=$((10000 * times)) 'BEGIN {
	for (i = 0; i < n; i++) {
		x = (x * 1103515245 + 12345) % 2147483648
		print x % 1000, "line", i, x % 77, "the quick brown fox"
	}
}' >text
head -n $((1500 * times)) text >short
echo "core $core, one sample every $period events$([ "$times" = 1 ] || echo ", inputs $times times as long")"
for program in bzip2 sort awk; do
	case $program in
	bzip2) set -- bzip2 -k -c short ;;
	sort) set -- sort -n text ;;
	awk) set -- awk '{ n[$4] += $1 } END { for (k in n) s += n[k]; print s }' text ;;
	esac
	command -v "$1" >/dev/null 2>&1 || { echo "$1: not installed"; continue; }
	# shellcheck disable=SC2086
	LC_ALL=C "$softpmu" record -q ${OPTIONS:-} --core "$core" --exact="$period" -e "$events" -c "$period" \
		-o data "$@" >out || exit 1
	echo
	echo "$1:"
	"$softpmu" report -i data --sampling-error
done
