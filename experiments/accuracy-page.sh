#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make accuracy [DATA=DIR]: prints how far the model is from measured machines, and writes it to
# docs/measured/accuracy.md.
# accuracy-page.sh PROGRAM DATA
#
# Environment:
# MCA=0        leaves llvm-mca out.
# PRESET=NAME  prints one measured machine only, and writes nothing.
# CORE=NAME    the core with which microbenchmarks on this host are compared.
# NATIVE=0     leaves out all that runs on this host.
# REAL=0       leaves out the calibrated core and the real programs.
# REAL=DIR     takes from DIR what is there, and leaves the rest there: host.conf, host.md, again*.md (softpmu calibrate
#              --native --page, at other times), streams and native times.  So what needs a quiet machine can be
#              measured before (see tests/accuracy/real.sh).
# LIST=FILE    other programs than tests/accuracy/held-out.sh's; what is kept of them is in REAL/list.
set -eu
cd "$(dirname "$0")/.."
program=$1 data=$2
if [ ! -d "$data/instlat" ] && [ ! -d "$data/skylake-throughput" ]; then
	cat >&2 <<END
accuracy: $data has neither instlat/ nor skylake-throughput/. The measurements are public; put them into a folder and
say DATA=FOLDER:
  instlat/             the files *_InstLatX64.txt, *_InstLatX86.txt and *MemLat*.txt of
                       https://github.com/InstLatx64/InstLatx64 (folders by vendor)
  skylake-throughput/  single.csv, pairs.csv, fives.csv: lines 'cycles;templates joined by |', from the measured
                       sequences of https://github.com/cdl-saarland/pmevo-artifact (vm_setup/data/SKL)
END
	exit 1
fi
if [ -n "${PRESET:-}" ]; then
	exec "$program" "$data" data "$PRESET"
fi
work=$(mktemp) || exit 1
trap 'rm -f "$work"' EXIT
cat >"$work" <<'END'
# Accuracy

This page compares the modelled cores with machines that others have measured. It is the output of

    make accuracy DATA=../shared/data

which takes a few minutes.

![What the model differs by from a host, real program by real program](../plots/accuracy.svg)

![Instructions that were not used for the tables, core by core](../plots/accuracy-instructions.svg)

![Cycles a load of five cores, modelled against measured](../plots/accuracy-memory.svg)

- The measurements are not part of the project. Without them the command says where they are published.
- They are used for comparison only, with one exception: four fifths of the rows with latencies and throughputs of
  single instructions (instlat) may also have been used to build the tables of uops. Every fifth row was kept out of
  that and is reported in lines of its own ("held out").
- At the end microbenchmarks run natively on the host and under the model of its preset. Then `softpmu calibrate`
  fits a core to the host. With this core the latencies of memory and real programs are compared: 14 programs, and
  those of `tests/accuracy/held-out.sh`.
- These environment variables change what `make accuracy` does. `PRESET=skylake` prints one machine and writes no
  page. `MCA=0` skips llvm-mca. `CORE=NAME` compares the host with another core. `REAL=0` skips the calibrated core
  and the real programs, `NATIVE=0` everything that runs on the host. `LIST=FILE` runs the programs of FILE instead of
  those of `held-out.sh`; `LIST=FILE tests/accuracy/real.sh ./host.conf` runs these alone. `tests/accuracy/more.sh` is
  such a FILE, with programs of many kinds; with `--packages` it prints the Debian packages that they need.

## How to read the tables

Errors are model ÷ measured − 1. "Mean abs. error" is the mean of their absolute values, "mean signed" the mean with
sign. Kendall's tau (tau-b, ties corrected) says whether the model puts rows into the measured order. "Limited by"
is what the model itself names as the bottleneck of a row, as `softpmu block` prints it.

The throughputs measured on Skylake are in three sets: sequences of one instruction (`single`), of two (`pairs`) and
of five (`fives`). Measured values have noise in their last digits, which no model can order. So for `fives` no model
can be expected to reach a tau of 1: if the measured values are rounded to 0.05 cycles, their own tau with the
unrounded values is 0.952; if they are rounded to 0.025 cycles, it is 0.953. The model's tau is 0.951.
`tests/accuracy/ceiling.sh build/accuracy ../shared/data` prints these figures, and which rows lower the model's tau.
Two rules of the core (`sustain.*`, GUESS, derived from `single` and `pairs` alone) raised the model's tau from 0.945:

- If a sequence has four of these in each cycle, it takes 1.0577 times as long, whatever the mix: loads, stores, and
  operations on ports 0 and 1 with a latency of four cycles or more.
- If it has two loads and a store in each cycle, it takes 1.0065 times as long.

What these operations share is not known. Rows that mix them in other ways (VROUNDPD, VPMULLD) are still up to 5 %
off. Two loads and a store each cycle take 9 to 17 % more than the model says, if all use general registers and one
or both are of 64 bits; the reason is not known.

The row that is furthest off is VSQRTPD of ymm registers, and with it every sequence that contains it: 12 clocks in
the model, 9.03 measured. Its time depends on the operands' values, which the model does not know. InstLatx64 measured
12.08 clocks for ordinary operands and 9.08 for 0.0 and 1.0 (6.00 and 4.50 of xmm); the set itself measured 12.04 for
VSQRTPD of operands in memory. So the registers of that loop seem to have held such values. The table has the time of
ordinary operands. Divisions by 2.0 and 0.5 are faster, too: VDIVPD xmm 3.42 clocks, not 4. No other row of `single` is
more than 7 % off. For the tables, `test_uop_measured` lists the rows that are slower than a measurement of their form.

## Where the rules came from

The tables come from LLVM 19's scheduling models and from the instlat rows that are not held out. Those of zen3,
zen4 and zen5 come from LLVM's model of Zen 4 and from what `tools/uops/measure.sh` measured on such hosts
(`tools/uops/zen3-host.tsv` and so on). So the native check of these cores is not an independent test of
their tables; it shows how well the mechanisms of the core fit together. `tools/uops/generate_uops.sh` prints how well
its tables predict instruction forms that were left out when it made them.

Some rules were found by looking at the rows of the throughput set itself:

- Four classes of instructions do not keep their memory uop micro-fused: INC, NOT, shifts and bit tests on memory;
  vector operations with memory and an immediate; VPMOVSX and VPMOVZX to ymm; VEXTRACT, whose store address does not
  go to port 7.
- PSHUFB and PMULLD do not keep it fused either (found in `pairs` and every second row of `fives`; the other rows
  agree).
- VBLENDV begins an issue group.
- Microcode (BT, BTS, BTR with memory and a register) starts after the uops that are already in the uop queue.

These are rules for whole classes, marked unverified or GUESS in the code. Each can be switched off, and the table of
mechanisms shows its effect. To test them independently, one would have to measure sequences of the same kind that are
not in the set.
END
"$program" "$data" data | tee -a "$work"
set -- "$data"/instlat/*MemLat*.txt
if [ -f "$1" ]; then
	"$program" memlat data "$@" | tee -a "$work"
fi
if [ "${NATIVE:-1}" != 0 ]; then
	native=$(experiments/native-page.sh ${CORE:+"$CORE"})
	printf '\n%s\n' "$native" | tee -a "$work"
fi
if [ "${NATIVE:-1}" != 0 ] && [ "${REAL:-1}" != 0 ]; then
	case ${REAL:-1} in 1) real=$(mktemp -d); trap 'rm -rf "$work" "$real"' EXIT ;; *) real=$REAL ;; esac
	mkdir -p "$real"
	[ -s "$real/host.conf" ] && [ -s "$real/host.md" ] ||
		build/softpmu calibrate -q ${CORE:+--core "$CORE"} -o "$real/host.conf" --page "$real/host.md" >&2
	{
		printf '\n'
		set -- "$real"/again*.md
		[ -f "$1" ] || set --
		tests/accuracy/curves.sh "$real/host.md" "$@"
		printf '\n'
		cat <<END
## Streams of memory on this host

Cycles a line (for stride2 to stride8 and the random streams, cycles an access) of
\`experiments/streams.sh ./host.conf\`: buffers of 96 MB, natively and with the core of the section before. Nothing is
fitted to these streams but read (dram.line_ns, by calibrate's own stream) and write_nt (dram.write_ns).

END
		[ -s "$real/streams.md" ] || experiments/streams.sh "$real/host.conf" >"$real/streams.md"
		cat "$real/streams.md"
		printf '\n'
		LIST='' KEEP=$real tests/accuracy/real.sh "$real/host.conf"
		printf '\n'
		mkdir -p "$real/list"
		HEAD='Programs held out, on this host' LIST=${LIST:-tests/accuracy/held-out.sh} KEEP=$real/list \
			tests/accuracy/real.sh "$real/host.conf"
	} | tee -a "$work"
fi
if [ -f docs/measured/accuracy.md ]; then	# keep the table of make ablation
	awk '/^## / { on = /^## What each mechanism is worth$/;
		if (on) print "" } on' docs/measured/accuracy.md >>"$work"
fi
mv "$work" docs/measured/accuracy.md
chmod 644 docs/measured/accuracy.md
trap - EXIT
