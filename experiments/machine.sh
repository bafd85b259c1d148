#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole machine, measured; the tables of docs/measured/guest.md.  Needs `make machine` and
# tools/machine/fetch-kernel.sh.
#   experiments/machine.sh inside     the guest's own perf against a replay of the same run, count by count
#   experiments/machine.sh alone      programs in the guest against softpmu stat of the same program outside; medians of
#                                     $ROUNDS (3) sizes of the environment
#   experiments/machine.sh stories    where the time of four programs goes, kernel functions by name
#   experiments/machine.sh speed      MIPS: functional and detailed; medians of $ROUNDS (3)
#   experiments/machine.sh horizons   how far ahead of the core the machine runs, by sampling period
#   experiments/machine.sh processors two runs of 2 and of 4 processors against each other, and what booting takes
#   experiments/machine.sh perf-test  perf's own tests in the guest: all, or those whose numbers follow
#   experiments/machine.sh features   what the guest's perf can do: all rounds, or those whose names follow
#   experiments/machine.sh selftests  the kernel's selftests of perf_events, from Debian's linux-source
set -eu
cd "$(dirname "$0")/.."
root=$PWD
soft=build/softpmu kernel=${KERNEL:-build/machine/kernel/vmlinuz-amd64}
core=${CORE:-skylake} rounds=${ROUNDS:-3}
perf=${PERF:-$(command -v perf)}
[ -x build/libexec/softpmu-machine ] && [ -f "$kernel" ] ||
	{ echo "machine.sh: make machine; tools/machine/fetch-kernel.sh" >&2; exit 1; }
work=$(mktemp -d)
mkdir "$work/in"
trap 'rm -rf "$work"' EXIT INT TERM
seq 1 8000 >"$work/in/numbers"
cat >"$work/in/sql" <<'END'
create table t(a integer primary key, b);
with recursive c(x) as (select 1 union all select x+1 from c where x<4000) insert into t select x, x*7%1000 from c;
create index i on t(b);
select sum(a) from t where b<500;
select count(*) from t t1 join t t2 on t1.b=t2.b where t1.a<200;
END
cat >"$work/in/work.py" <<'END'
s = 0
d = {}
for i in range(12000):
    d[i % 997] = d.get(i % 997, 0) + i
    s += len(str(i))
print(s, sum(d.values()))
END
command_of() {	# PROGRAM: how it is called, its input beside it
	case $1 in
	bzip2)	echo "bzip2 -kc numbers" ;;
	sqlite3) echo "sqlite3 -init /dev/null -batch :memory: '.read sql'" ;;
	python3) echo "python3 -S work.py" ;;	# -E would take PYTHONHASHSEED away
	esac
}
# guest OPTION... : the guest has perf, a shell, and the inputs where the host has them
guest() {
	timeout "${LIMIT:-600}" $soft machine --kernel "$kernel" --core "$core" --add "$perf" --add /usr/bin/seq \
		--add "$work/in" --report "$work/report" "$@"
}
in_guest() {	# the same; what it says goes into $work/said, and is shown if it fails
	guest "$@" >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
}
value() { sed -n "s/^$1=//p" "$work/report"; }
seconds() { date +%s.%N; }

inside() {
	echo "| program | event | the guest's perf | replay | |"
	echo "|---|---|---:|---:|---|"
	events=cycles:u,instructions:u,cycles:k,instructions:k
	for set in $events branches,branch-misses,L1-dcache-load-misses,LLC-loads; do
		for p in bzip2 sqlite3 python3; do
			rm -f "$work/trace"
			add=$(add_of "$p")
			# shellcheck disable=SC2086	# a list
			in_guest $add --save-stream "$work/trace" --kallsyms "$work/kallsyms" --run \
				"cd $work/in && perf stat -x, -e $set $(command_of "$p") 2>&1 >/dev/null"
			$soft stat --replay "$work/trace" --core "$core" -x, -e "$set" -o "$work/out" 2>/dev/null
			for e in $(echo "$set" | tr , ' '); do
				i=$(awk -F, -v e="$e" '$3 == e { print $1 }' "$work/said")
				o=$(awk -F, -v e="$e" '$3 == e { print $1 }' "$work/out")
				echo "| $p | $e | $i | $o | $([ "$i" = "$o" ] && echo equal || echo differs) |"
			done
		done
	done
}

add_of() {	# PROGRAM: options that bring it
	case $1 in
	# the whole folder: python lists those that it looks for modules in
	python3) echo "--add /usr/bin/python3$(for d in /usr/lib/python3.*; do printf ' --add %s' "$d"; done)" ;;
	*) echo "--add /usr/bin/$1" ;;
	esac
}

# Outside, the tracer's loader brings a small library of Valgrind's into the program; the guest's program gets it, too.
preload=$(ls /usr/libexec/valgrind/vgpreload_core-amd64-linux.so)
# Where the stack lies decides which loads and stores are 4 KB apart.  So each program runs with $ROUNDS sizes of the
# environment, a page's share apart, and the medians are compared.
alone() {
	sizes=$(seq -s ' ' 1 $((4096 / rounds)) $((4097 - 4096 / rounds)))
	env="PATH=/usr/bin:/bin HOME=/ PYTHONHASHSEED=0"
	echo "| program | event | in the guest | | outside | | difference |"
	echo "|---|---|---:|---:|---:|---:|---:|"
	for p in bzip2 sqlite3 python3; do
		add=$(add_of "$p")
		# shellcheck disable=SC2086	# a list
		in_guest $add --add "$preload" --add /usr/bin/env --run "cd $work/in &&
			for n in $sizes; do env -i $env PAD=\$(printf '%0*d' \$n 0) LD_PRELOAD=$preload \
			perf stat -x, -e instructions:u,cycles:u $(command_of "$p") 2>&1 >/dev/null; done"
		for n in $sizes; do
			(cd "$work/in" && eval "env -i $env PAD=$(printf '%0*d' "$n" 0) \"$root/$soft\" stat \
				--core $core -x, --no-wrong-path -e instructions:u,cycles:u -o ../one \
				$(command_of "$p")" >/dev/null 2>&1)
			cat "$work/one"
		done >"$work/out"
		for e in instructions:u cycles:u; do
			echo "$(spread "$e" "$work/said") $(spread "$e" "$work/out")" | awk -v p="$p" -v e="$e" '{
				printf "| %s | %s | %d | +- %.2f %% | %d | +- %.2f %% | %+.2f %% |\n",
					p, e, $1, 50 * ($3 - $2) / $1, $4, 50 * ($6 - $5) / $4, 100 * ($1 / $4 - 1) }'
		done
	done
}
spread() {	# EVENT FILE: the median of its counts, the least and the most
	awk -F, -v e="$1" '$3 == e { print $1 }' "$2" | sort -g |
		awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)], v[1], v[NR] }'
}

stories() {
	gcc -O2 -o "$work/in/stories" experiments/machine-stories.c
	for s in calls switches faults interrupts; do
		rm -f "$work/trace"
		echo "### $s"
		in_guest --save-stream "$work/trace" --kallsyms "$work/kallsyms" --run \
			"perf stat -e cycles:u $work/in/stories $s >/dev/null 2>&1"
		$soft stat --replay "$work/trace" --core "$core" -e \
			cycles:u,cycles:k,instructions:u,instructions:k,page-faults,context-switches,interrupts 2>&1 |
			sed -n '/cycles:u/,/interrupts/p'
		$soft topdown --replay "$work/trace" --core "$core" 2>&1 | sed -n 1,14p
		$soft record -q --replay "$work/trace" --core "$core" -e cycles -c 2003 -o "$work/data" >/dev/null 2>&1
		$soft report -i "$work/data" --sort sym 2>/dev/null | grep -v '^#' | grep . | head -n 8
		$soft cost --replay "$work/trace" --core "$core" 2>&1 | head -n 16
	done
}

took() {	# OPTION... : a guest with bzip2, and how long it took
	t0=$(seconds)
	guest --add /usr/bin/bzip2 "$@" >/dev/null 2>&1
	span=$(awk -v a="$t0" -v b="$(seconds)" 'BEGIN { print b - a }')
}
rate() {	# INSTRUCTIONS : of the last guest, in millions a second
	awk -v n="$1" -v s="$span" 'BEGIN { printf "%.1f\n", n / s / 1e6 }'
}
timed() { echo $(($(value instructions_user) + $(value instructions_kernel))); }

# How long a command of the guest takes: from its line "begin" to its line "end", which come as they are written.
between() {	# OPTION... : as took
	guest --add /usr/bin/bzip2 "$@" 2>"$work/err" |
		while read -r line; do echo "$line $(seconds)"; done >"$work/lines"
	span=$(awk '{ t[$1] = $2 } END { print t["end"] - t["begin"] }' "$work/lines")
}
speed() {
	took --state "$work/state" --warm --run true	# saves it
	took --state "$work/state2" --run true
	loop() { echo "for i in $1; do bzip2 -kc numbers; done"; }
	body() { echo "cd $work/in; echo begin; ($(loop "$1")) >/dev/null; echo end"; }
	for _ in $(seq "$rounds"); do
		took --run true; boot=$span
		took --state "$work/state2" --run true; restored=$span e0=$(value executed)
		between --state "$work/state2" --run "$(body "$(seq -s ' ' 60)")"
		functional=$(rate $(($(value executed) - e0)))
		took --state "$work/state" --warm --run true; w0=$(value warmed)
		between --state "$work/state" --warm --run "$(body '1 2 3 4 5')"
		warmed=$(rate $(($(value warmed) - w0)))
		record="record -q -B -N -o /tmp/d -c 100003"
		for how in "stat -o /tmp/d -e cycles,instructions" "$record -e instructions" "$record -e cycles"; do
			between --state "$work/state2" --run "perf $how sh -c '$(body '1 2 3 4 5')'"
			rate "$(timed)"
		done >"$work/detailed"
		echo "$functional $warmed $(paste -sd ' ' "$work/detailed") $boot $restored"
	done >"$work/rounds"
	cat "$work/rounds" >&2
	for c in 1 2 3 4 5 6 7; do
		cut -d' ' -f$c "$work/rounds" | sort -g | awk -v c=$c '{ v[NR] = $1 } END {
			split("functional|warmed|under perf stat|under perf record -e instructions -c 100003|" \
				"under perf record -e cycles -c 100003|seconds to boot|seconds from a state", name, "|")
			printf "| %s | %s | %s to %s |\n", name[c], v[int((NR + 1) / 2)], v[1], v[NR] }'
	done
}

horizons() {
	echo "| event | period | ahead | in step | late PMIs | PMIs |"
	echo "|---|---:|---:|---:|---:|---:|"
	for e in instructions cycles; do
		for period in 1000 10000 100000 1000000 10000000; do
			guest --add /usr/bin/bzip2 --run "cd $work/in
				echo 100000000 >/proc/sys/kernel/perf_event_max_sample_rate
				echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
				perf record -o /tmp/d -e $e -c $period bzip2 -kc numbers >/dev/null 2>&1" \
				>/dev/null 2>&1
			n=$(timed)
			awk -v e="$e" -v p="$period" -v n="$n" -v a="$(value ahead)" -v s="$(value stepped)" \
				-v l="$(value late)" -v i="$(value pmis)" 'BEGIN {
				printf "| %s | %d | %.1f %% | %.1f %% | %d | %d |\n", e, p, 100 * a / n, 100 * s / n,
					l, i }'
		done
	done
}

equal() { cmp -s "$1.1" "$1.2" && echo equal || echo differs; }
# PROCESSORS RUN: a bzip2 for each is counted and sampled; what comes out goes into files stat.RUN, record.RUN, and the
# reports beside them
all_busy() {
	all=
	for _ in $(seq "$1"); do all="$all bzip2 -kc few >/dev/null &"; done
	for what in "stat -x, -a -A -e cycles,instructions" "record -q -o /tmp/d -a -e cycles:u -c 20011"; do
		file=$work/${what%% *}
		guest --add /usr/bin/bzip2 --cpus "$1" --state "$work/state-$1" --run "cd $work/in
			perf $what sh -c '$all wait'; [ ! -f /tmp/d ] || perf script -i /tmp/d" >"$file.$2" 2>&1
		cp "$work/report" "$file.report.$2"
	done
}
processors() {
	seq 1 3000 >"$work/in/few"
	echo "| processors | instructions of a boot | seconds in user mode | counts | samples | | reports |"
	echo "|---:|---:|---:|---|---:|---|---|"
	for n in 1 2 4; do
		times >"$work/times"		# of the shell's children, in the second line
		guest --cpus "$n" --run true >/dev/null 2>&1
		times >>"$work/times"
		boot=$(value executed)
		all_busy "$n" 1
		all_busy "$n" 2
		echo "| $n | $boot | $(awk -F'[ms ]' 'NR % 2 == 0 { a = b; b = 60 * $1 + $2 }
			END { printf "%.1f", b - a }' "$work/times") | $(equal "$work/stat") |" \
			"$(grep -c cycles:u "$work/record.1") | $(equal "$work/record") |" \
			"$(equal "$work/stat.report"), $(equal "$work/record.report") |"
	done
}

# Each case is a run of its own from a saved state, so one that hangs costs no other its result.  Four seconds of the
# guest's time are minutes of ours where the core times them; $LIMIT (300) is ours.  $OUT keeps what each case said,
# $STATE the state.  The guest has what the cases ask for, but a compiler.
perf_test() {
	out=${OUT:-$work/perf-test}
	mkdir -p "$out"
	add=--add\ $perf
	for f in /usr/lib/perf-core $(modules) $(readlink -f /usr/bin/python3) /usr/bin/python3 \
		/usr/lib/python3/dist-packages/perf.*.so; do
		add="$add --add $f"
	done
	for f in bash awk mawk bc mktemp timeout stdbuf dirname basename find stat readlink xargs expr od cmp diff id \
		pidof pgrep ps readelf nm objdump which fgrep egrep ip; do
		f=$(PATH=/usr/bin:/bin:/usr/sbin:/sbin command -v $f || true)
		add="$add${f:+ --add $f}"
	done
	# in /, so that no folder `tests` is taken for perf's
	cases=${*:-$(cd / && "$perf" test list 2>&1 | sed -n 's/^ *\([0-9]*\): .*/\1/p')}
	for n in $cases; do
		code=0
		# shellcheck disable=SC2086	# a list
		timeout "${LIMIT:-300}" $soft machine --kernel "$kernel" --core "$core" $add --memory 1024 \
			--state "${STATE:-$work/state}" \
			--run "timeout -s KILL ${GUEST_LIMIT:-4} perf test -v $n 2>&1" >"$out/$n" 2>&1 || code=$?
		grep -aE '^ *[0-9.: ]*.*: (Ok|Skip|FAILED!)' "$out/$n" | sed "s/^/$n: /" | grep . ||
			echo "$n: stopped, status $code"
	done
}
# the modules of Python that perf's tests import
modules() {
	/usr/bin/python3 -S -E -c 'import os, sys, glob, optparse, tempfile, logging, shutil, configparser, argparse
import json, __future__, importlib.util, site, encodings.utf_8, subprocess
for m in list(sys.modules.values()):
	f = getattr(m, "__file__", None)
	if f and f.startswith("/usr/lib/python3"):
		print(f)
		c = getattr(m, "__cached__", None)
		if c and os.path.exists(c): print(c)'
}

# Each round is a script of the guest's, and a run of its own.  The round `basic` is for other cores than skylake.
features() {
	seq 1 2000 >"$work/in/n"
	for i in 1 2 3 4 5 6 7 8 9 10; do cat "$work/in/n"; done >"$work/in/m"
	cat >"$work/in/stat" <<'END'
perf stat bzip2 -kf n
perf stat -d bzip2 -kf n
END
	cat >"$work/in/mux" <<'END'
# 12 events on 8 counters; then the same ones without multiplexing
echo 1 >/sys/bus/event_source/devices/cpu/perf_event_mux_interval_ms
first=cycles,instructions,branches,branch-misses,L1-dcache-loads,L1-dcache-load-misses,LLC-loads
first=$first,mem_inst_retired.all_stores
more=dTLB-loads,dTLB-load-misses,br_inst_retired.conditional,br_inst_retired.near_taken
for e in $first,$more $first $more; do perf stat -x, -e $e bzip2 -kf m; done
END
	cat >"$work/in/metrics" <<'END'
perf stat -M TopdownL1 bzip2 -kf n
perf stat -M Summary bzip2 -kf n
perf stat -M MemoryTLB bzip2 -kf n
perf stat --topdown -a bzip2 -kf n
perf stat -e cycles -I 1 bzip2 -kf m
END
	cat >"$work/in/record" <<'END'
r() { echo "== $*"; perf record -o /tmp/d -c 10007 "$@" bzip2 -kf n 2>&1 | tail -n 1; }
show() { perf report -i /tmp/d --stdio "$@" 2>/dev/null | grep -v '^#' | grep . | head -n 12; }
for m in u k p pp ppp upp; do r -e cycles:$m; show --sort dso,sym; done
r -b -e cycles:u; show --sort dso_from,dso_to,mispredict	# perf 6.1.187 falls over symbol_from
perf script -i /tmp/d -F brstack | head -n 1
r -g -e cycles; show --no-children
r --call-graph=lbr -e cycles:u; show --no-children
r -d -e mem_load_retired.l1_miss:pp; show --sort sym,symbol_daddr
r --per-thread -e cycles; show --sort dso
r -a -e cycles; show --sort comm,dso
END
	cat >"$work/in/mem" <<'END'
perf mem record -o /tmp/d bzip2 -kf n 2>&1 | tail -n 1
perf mem -i /tmp/d report --stdio 2>/dev/null | grep -v '^#' | grep . | head -n 24
END
	cat >"$work/in/addresses" <<'END'
# the address of each sampled load of `walk`, and how far it is from the one before: 64 bytes a load
set -- $(./stories walk)
echo "array: $*"
perf record -q -d -o /tmp/d -c 503 -e mem_inst_retired.all_loads:upp ./stories walk >/dev/null
perf script -i /tmp/d -F addr,ip,sym >/tmp/a
in=0 out=0 apart=0 before=0
while read -r a ip symbol; do
	[ "$symbol" = walk ] || continue
	a=$((0x$a))
	[ $a -ge $(($1)) ] && [ $a -le $(($2)) ] && in=$((in + 1)) || out=$((out + 1))
	[ $((a - before)) -ne $((64 * 504)) ] || apart=$((apart + 1))
	before=$a
done </tmp/a
echo "$in samples in the array, $out out of it, $apart of them 504 loads behind the one before"
END
	cat >"$work/in/top" <<'END'
# perf top waits at least a second of the guest's time, so its clock is set low (below)
(while :; do bzip2 -kf n; sleep 0.3; done) & l=$!
sleep 30 | timeout -s INT 6 perf top --stdio -n -d 2 -e cycles:u -c 100003 2>&1 | head -n 60
kill $l
END
	cat >"$work/in/watchdog" <<'END'
# two fixed counters and all eight general ones
f=cycles,instructions,branches,branch-misses,L1-dcache-loads,L1-dcache-load-misses,LLC-loads,dTLB-loads
f=$f,dTLB-load-misses,mem_inst_retired.all_stores
for w in 0 1; do
	echo $w >/proc/sys/kernel/nmi_watchdog
	perf stat -x, -e "{$f}" bzip2 -kf n
	perf stat -x, -e cycles,instructions bzip2 -kf n
done
END
	cat >"$work/in/all" <<'END'
cp n other
perf stat -a -A -x, -e cycles:u,instructions:u sh -c 'taskset 1 bzip2 -kf n & taskset 2 bzip2 -kf other; wait'
perf stat -x, -e cycles:u,instructions:u bzip2 -kf n
END
	cat >"$work/in/basic" <<'END'
dmesg | grep 'Performance Events'
perf stat -x, -e cycles,instructions,branches,branch-misses bzip2 -kf n
for m in '' :pp; do
	perf record -o /tmp/d -e cycles$m -c 20011 bzip2 -kf n
	perf report -i /tmp/d --stdio --sort dso,sym 2>/dev/null | grep -v '^#' | grep . | head -n 4
done
END
	gcc -O1 -no-pie -o "$work/in/stories" experiments/machine-stories.c
	[ $# -gt 0 ] || set -- stat mux metrics record mem addresses top watchdog all
	for round; do
		cpus=1 ghz=
		[ "$round" = all ] && cpus=2
		[ "$round" = top ] && ghz="--set core.frequency_ghz=0.3"
		echo "### $round"
		# shellcheck disable=SC2086	# two words or none
		LIMIT=${LIMIT:-1500} guest $ghz --cpus $cpus --add /usr/bin/bzip2 --add /usr/bin/timeout \
			--run "cd $work/in && sh $round 2>&1" || echo "status $?"
	done
}

selftests() {
	dir=${SELFTESTS:?the folder tools/testing/selftests/perf_events of linux-source}
	for t in sigtrap_threads remove_on_exec; do
		gcc -O1 -I"$dir/.." -pthread -o "$work/in/$t" "$dir/$t.c"
	done
	guest --run 'for t in sigtrap_threads remove_on_exec; do '"$work"'/in/$t; done' 2>&1
}

case ${1:-} in
inside | alone | stories | speed | horizons | processors | selftests) "$1" ;;
perf-test) shift; perf_test "$@" ;;
features) shift; features "$@" ;;
*) sed -n '3,14s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
