#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make ablation [DATA=DIR]: what each mechanism of the core is worth.  Prints the mean error of skylake on
# skylake-throughput with one mechanism switched off at a time (as --set does), and replaces the old table in
# docs/measured/accuracy.md.
# ablation.sh PROGRAM DATA
set -eu
cd "$(dirname "$0")/.."
program=$1 data=$2 begin='## What each mechanism is worth'
if [ ! -d "$data/skylake-throughput" ]; then
	experiments/accuracy-page.sh "$program" "$data/none"	# says where the measurements are
	exit 1
fi
work=$(mktemp) || exit 1
trap 'rm -f "$work" "$work.md"' EXIT
row() {
	printf '| %s | %s | ' "$1" "${2:-–}"
	SHORT=1 SET="${2:-}" "$program" "$data" data skylake | sed 's/$/ |/'
}
# single CORE NAME SETTING: means over the rows of both sets, held-out rows included
single() {
	printf '| %s | %s | %s | ' "$1" "$2" "${3:-–}"
	SET="${3:-}" "$program" "$data" data "$1" 2>/dev/null | awk -F'|' '
	$2 ~ /^ (latency|throughput) $/ {
		kind = $2; gsub(/ /, "", kind); sub(/ %/, "", $6)
		n[kind] += $4; sum[kind] += $4 * $6
	}
	END { printf "%.2f %% | %.2f %% |\n", sum["latency"] / n["latency"], sum["throughput"] / n["throughput"] }'
}
{
	cat <<END
$begin

Made by

    make ablation DATA=../shared/data

Skylake on \`skylake-throughput\`: mean absolute errors with one mechanism switched off at a time by \`--set\`, and
Kendall's tau of fives. These are short blocks whose accesses all hit L1D. So mechanisms for misses, mispredictions,
aliasing and store forwarding do not show here.

| off | --set | single | pairs | fives | tau |
|---|---|---:|---:|---:|---:|
END
	row 'nothing: the preset'
	row 'front end: issue width each cycle' frontend.simple=1
	row 'uop cache: all is decoded' dsb.sets=0
	row 'uop cache reads one line a cycle' dsb.lines=1
	row 'large constants take two places' dsb.wide=0
	row 'Jcc erratum (switched on)' dsb.jcc_erratum=1
	row 'micro-fusion' fusion.micro=0
	row 'its exceptions: flags left alone' fusion.partial_flags=1
	row 'its exceptions: memory and immediate' fusion.immediate=1
	row 'its exceptions: widening moves' fusion.widening=1
	row 'its exceptions: PSHUFB and PMULLD' fusion.pshufb=1
	row 'un-lamination' fusion.unlaminate=0
	row 'un-laminated: two places in the decoders' dsb.laminated=0
	row 'macro-fusion' fusion.macro=0
	row 'VBLENDV begins an issue group' issue.blend_first=0
	row 'move elimination' eliminate.moves=none
	row 'move elimination without its limit' eliminate.slots=0
	row 'zero idioms' eliminate.zero_idioms=0
	row 'bypass delays' bypass.delay=0
	row 'ports by counts: by the least loaded now' ports.binding=least
	row 'ports by counts: the first that may' ports.binding=first
	row 'a scheduler entry for each slot of a cycle' rs.group=0
	row 'loop buffer (switched on)' lsd.size=64
	row 'loads, stores and slow operations: four a cycle' sustain.rate=0
	row 'two loads and a store each cycle' sustain.memory_rate=0
	row 'microcode switch' ms.enter=0
	row 'microcode waits for the uop queue' ms.drain=0
	cat <<END

Mechanisms that only other cores have, or that only dependent chains show: mean absolute errors on the rows of single
instructions (held-out rows included, latency and throughput), of the preset as it is and with one mechanism switched
off.

| core | off | --set | latency | throughput |
|---|---|---|---:|---:|
END
	single skylake 'nothing'
	single skylake 'move elimination' eliminate.moves=none
	single skylake 'its limit' eliminate.slots=0
	single skylake 'bypass delays' bypass.delay=0
	single skylake 'uop cache keeps length-changing prefixes out' dsb.lcp=0
	single skylake 'high bytes renamed apart' partial.high_ports=0
	single skylake 'their later reads' partial.high_latency=0
	single golden-cove 'nothing'
	single golden-cove 'constants added at rename' eliminate.constants=0
	single golden-cove 'loads that become the stored register' forward.renamed=0
	single golden-cove 'bypass delays' bypass.delay=0
	single golden-cove 'adders that pass results to each other' bypass.fp_add=0
	single ivy-bridge 'nothing'
	single ivy-bridge 'the limit of move elimination' eliminate.slots=0
	single ivy-bridge 'bypass delays' bypass.delay=0
	single ivy-bridge 'banks of L1D' l1d.banks=0
	single ivy-bridge 'high bytes renamed apart' partial.high_ports=0
	single ivy-bridge 'un-laminated: two places in the decoders' dsb.laminated=0
	single core2 'nothing'
	single core2 'partial-register stalls' partial.stall=none
	single core2 'false length-changing prefixes' mite.false_lcp=0
	single pentium3 'nothing'
	single pentium3 'partial-register stalls' partial.stall=none
} | tee "$work.md"
if [ -f docs/measured/accuracy.md ]; then
	sed "/^$begin\$/,\$d" docs/measured/accuracy.md | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >"$work"
	{ cat "$work"; echo; cat "$work.md"; } >docs/measured/accuracy.md
fi
