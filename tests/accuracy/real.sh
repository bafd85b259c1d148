#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Real programs on this host and under the model of a core: user-level cycles, in Markdown.
#   real.sh CORE [PROGRAM...]		CORE: a core file of softpmu calibrate; default: all programs that are installed
# Environment:
#   SOFTPMU, TIMED  the binaries (build/softpmu, build/native/timed)
#   RESIDENT        the library that touches a program's memory before main (build/native/resident.so); empty: none
#   RUNS            native runs of each size (40)
#   WIDTH           NOPs a cycle of a core that no other guest shares (default: measured by timed --width); not used
#                   where there are marks (below)
#   KEEP=DIR        keeps the streams and the native times in DIR, and uses those that are already there
#   ONLY=native     measures only the native times (on a quiet machine) and prints nothing
#   OPTIONS         options of softpmu stat, such as --set FIELD=VALUE
#   MISSED=1        prints each row as soon as it is known
#   RIGHT=0         leaves the last column empty, which needs a second pass of the model
#   LIST=FILE       other programs: a shell script that makes their inputs in the current folder, beside those of this
#                   script, and prints lines as list() below does (such as tests/accuracy/held-out.sh; TOP is the
#                   project's folder)
#   HEAD            the heading
#
# Each program runs with a small and a large input, and the difference counts, so start-up cancels out. The native time
# comes from RUNS runs of each size, in two rounds, small and large in turn; the frequency is measured beside each run,
# and what other guests of the core take is subtracted (timed.c). WIDTH=0 does not do that, and takes the least run.
# Both sides load resident.so, so that page faults take no part in it; and what a system call itself takes at user
# level is subtracted on both sides.
# Both sides see the same processor features: GLIBC_TUNABLES and OPENSSL_ia32cap switch off natively what the tracer's
# CPUID lacks, and set the same thresholds of glibc's string functions.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
softpmu=${SOFTPMU:-$top/build/softpmu} timed=${TIMED:-$top/build/native/timed}
marks=$top/build/native/marks
[ $# -ge 1 ] || { echo "usage: real.sh CORE [PROGRAM...]" >&2; exit 2; }
core=$1; shift
case $core in [!/]*/*) core=$PWD/$core ;; esac
case ${KEEP:-/} in /*) ;; *) KEEP=$PWD/$KEEP ;; esac
wanted=" $* " home=$HOME
case ${LIST:-/} in /*) ;; *) LIST=$PWD/$LIST ;; esac
resident=${RESIDENT-$top/build/native/resident.so}
for program in "$softpmu" "$timed" "$marks" $resident; do
	[ -x "$program" ] || { echo "real.sh: $program is not built: make all programs" >&2; exit 1; }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 PERL_HASH_SEED=0 HOME="$work"
runs=${RUNS:-40} width=${WIDTH:-$("$timed" --width)}

# --- the same processor for both ---
same=$(SOFTPMU=$softpmu sh "$top/tools/same-processor.sh" "$core") ||
	{ echo "real.sh: $core does not run" >&2; exit 1; }
eval "$same"
hwcaps=${GLIBC_TUNABLES##*=}
export GLIBC_TUNABLES OPENSSL_ia32cap

# --- inputs: texts of the project, the same for both sides ---
cd "$work"
cat "$top"/src/*/*.c "$top"/src/*/*.h "$top"/docs/*.md "$top"/docs/*/*.md >text
cat "$top"/data/uops/*.tsv >table
head -c 700000 text >text.large
head -c 100000 text >text.small
head -c 250000 text >page.large
head -c 50000 text >page.small
head -c 2000000 table >table.large
head -c 200000 table >table.small
cat table table table table | head -c 4000000 >tables.large	# for what is quick
cp table.small tables.small
head -c 1500000 "$softpmu" >binary.large
head -c 150000 "$softpmu" >binary.small
cat >sum.py <<'PY'
import sys
class Node:
    def __init__(self, key): self.key, self.left, self.right = key, None, None
def insert(root, key):
    while True:
        if key < root.key:
            if root.left is None: root.left = Node(key); return
            root = root.left
        else:
            if root.right is None: root.right = Node(key); return
            root = root.right
n, x, root, words = int(sys.argv[1]), 12345, Node(1 << 30), {}
for i in range(n):
    x = (x * 1103515245 + 12345) % (1 << 31)
    insert(root, x)
    w = "k%d" % (x % 997)
    words[w] = words.get(w, 0) + 1
print(sorted(words.items(), key=lambda e: (-e[1], e[0]))[:5])
PY
cat >words.pl <<'PL'
my (%n, $lines); while (<>) { $lines++; for my $w (split /\W+/) { next unless length $w; $n{lc $w}++; } s/(\d+)/<$1>/g; $n{"<"} += tr/<//; }
print "$lines ", join(",", map { "$_=$n{$_}" } (sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n)[0 .. 9]), "\n";
PL
cat >count.awk <<'AWK'
{ for (i = 1; i <= NF; i++) { n[$i]++; len += length($i) } if ($0 ~ /[a-z]+\(.*\)/) calls++ }
END { for (w in n) if (n[w] > most) { most = n[w]; best = w } print best, most, len, calls }
AWK
cat >swap.sed <<'SED'
s/([a-z]+)_([a-z]+)/\2-\1/g
SED
query() { echo "CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER, c TEXT); \
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n WHERE x<$1)
	INSERT INTO t SELECT x, x*7919%10007, 'row ' || (x*31%1009) FROM n; CREATE INDEX i ON t(c, b);
	SELECT count(*), sum(b) FROM t WHERE c LIKE 'row 1%'; SELECT c, count(*), max(b) FROM t GROUP BY c ORDER BY 2 \
		DESC, 1 LIMIT 5;
	SELECT count(*) FROM t x JOIN t y ON y.a = x.b WHERE x.c < 'row 5';"; }
query 15000 >query.large
query 1500 >query.small
cc1=$(gcc -print-prog-name=cc1 2>/dev/null || true)
python=/usr/bin/python3
gcc -E -P -I"$top/include" -I"$top/src" -D_GNU_SOURCE "$top/src/util/near.c" >code.large.c 2>/dev/null || true
gcc -E -P -I"$top/include" -I"$top/src" -D_GNU_SOURCE -include stddef.h -x c /dev/null >code.small.c 2>/dev/null || true

# list: prints NAME;STANDARD INPUT;COMMAND. @ is replaced by the name of the size, % by its number. grep's pattern must
# match nothing, because with /dev/null as output grep stops at the first match.
list() {
	cat <<END
bzip2;/dev/null;bzip2 -c text.@
gzip;/dev/null;gzip -nc table.@
sqlite3;query.@;sqlite3 :memory:
python3;/dev/null;$python -S sum.py %
perl;/dev/null;perl words.pl page.@
awk;/dev/null;awk -f count.awk text.@
cc1;/dev/null;$cc1 -quiet -O1 -o out.s code.@.c
sort;/dev/null;sort -S 64M table.@
grep;/dev/null;grep -cE [a-z]+[0-9]+.*(IL|LLVM).*[0-9]{7}$ tables.@
openssl;/dev/null;openssl dgst -sha256 tables.@
xz;/dev/null;xz -T1 -2 -c page.@
zstd;/dev/null;zstd --single-thread -q -9 -c text.@
objdump;/dev/null;objdump -d binary.@.elf
sed;/dev/null;sed -E -f swap.sed page.@
END
}
for size in small large; do	# 5 and 60 pages of code as an object file
	dd if="$softpmu" of=code.bin bs=4096 skip=200 count=$([ $size = small ] && echo 5 || echo 60) 2>/dev/null
	objcopy -I binary -O elf64-x86-64 -B i386:x86-64 \
		--rename-section .data=.text,alloc,load,readonly,code,contents code.bin binary.$size.elf 2>/dev/null ||
		true
done

# words FILE: its lines as words of a shell
words() { sed "s/'/'\\\\''/g; s/^/'/; s/\$/'/" "$1" | tr '\n' ' '; }

# run_model NAME SIZE INPUT HEAP: writes the counts of the command in args.SIZE to $work/NAME.SIZE, those without the
# wrong path to $work/NAME.SIZE.right.
run_model() {
	to=$work/$1.$2 stream=$keep/$1.$2.stream from=$3 heap=$4
	eval "set -- $(words "$work/args.$2")"
	[ -z "$resident" ] || [ "$heap" = 0 ] || set -- env "LD_PRELOAD=$resident" "RESIDENT_HEAP=$heap" "$@"
	for variant in '' $([ "${RIGHT:-1}" = 0 ] || echo .right); do
		if [ -s "$stream" ]; then
			set -- --replay "$stream"
		else
			set -- --save-stream "$stream" -- "$@"
		fi
		# shellcheck disable=SC2086
		"$softpmu" stat -x, -e $events -o "$to$variant" --core "$core" ${OPTIONS:-} \
			--set wrong_path=$([ "$variant" ] && echo 0 || echo 1) "$@" \
			<"$from" >/dev/null 2>"$work/err" || true	# grep exits with 1
		grep -q cycles "$to$variant" 2>/dev/null ||
			{ echo "real.sh: ${to##*/} under the model: $(cat "$work/err")" >&2; return 1; }
	done
	[ -n "${KEEP:-}" ] || rm -f "$stream"
}
keep=${KEEP:-$work}
# How timed finds what a run takes alone on its core: by marks, which a stream that is kept shows, else by the width.
alone() {
	if [ -n "$resident" ] && [ -s "$keep/$1.stream" ] &&
		{ [ -n "$(find "$keep/$1.marks" -newer "$keep/$1.stream" 2>/dev/null)" ] || {
			rm -f "$keep/$1.marks.least"
			"$marks" "$keep/$1.stream" 500000 >"$work/marks" && mv "$work/marks" "$keep/$1.marks"
		}; } &&
		[ -s "$keep/$1.marks" ]; then
		echo "-m $keep/$1.marks"
	else
		echo "-w $width"
	fi
}
events=cycles,instructions,branch-misses,mem_load_retired.l1_miss,mem_load_retired.l2_miss,mem_load_retired.l3_miss

# What a system call takes at user level: natively, where the samples of the kernel's clock ascribe a part of the way
# into the kernel to the program, and under the model.
if [ "${ONLY:-}" != native ]; then
	calls_native=$("$timed" -n 40 -- "$timed" --calls 20000 |
		awk -F'\t' '{ printf "%.0f", $1 * $3 / ($3 + $4) / 20000 }')
	calls_model=$(for n in 0 2000; do
		"$softpmu" stat -x, -e cycles --core "$core" -- "$timed" --calls $n 2>&1 >/dev/null
	done | awk -F, 'NR == 1 { a = $1 } END { printf "%.0f", ($1 - a) / 2000 }')
	echo "real.sh: user-level cycles of a system call: $calls_native, model $calls_model; subtracted" >&2
fi

: >"$work/rows"
if [ -n "${LIST:-}" ]; then
	HOME=$home TOP=$top sh "$LIST" >"$work/list" || { echo "real.sh: $LIST does not run" >&2; exit 1; }
else
	list >"$work/list"
fi
while IFS=';' read -r name input command; do
	case $wanted in '  ' | *" $name "*) ;; *) continue ;; esac
	set -f
	# shellcheck disable=SC2086
	set -- $command
	set +f
	command -v "$1" >/dev/null 2>&1 || { echo "real.sh: $name is not installed: left out" >&2; continue; }
	for size in small large; do
		number=$([ $size = small ] && echo 1000 || echo 10000)
		n=$#
		while [ "$n" -gt 0 ]; do	# the words with the size put in
			one=$1; shift
			case $one in *@*) one=${one%@*}$size${one##*@} ;; %) one=$number ;; esac
			set -- "$@" "$one"
			n=$((n - 1))
		done
		in=$input
		case $in in *@*) in=${in%@*}$size${in##*@} ;; esac
		if [ $size = small ]; then small_in=$in; else large_in=$in; fi
		printf '%s\n' "$@" >"$work/args.$size"
		set -f
		# shellcheck disable=SC2086
		set -- $command
		set +f
	done
	if [ -n "${KEEP:-}" ] && [ -s "$KEEP/$name.native.large" ]; then
		cp "$KEEP/$name.native.small" "$work/native.small"
		cp "$KEEP/$name.native.large" "$work/native.large"
	else
		: >"$work/native.small"
		: >"$work/native.large"
		for _ in 1 2; do	# small and large in turn, because other load of the machine varies
			for size in small large; do
				eval "set -- $(words "$work/args.$size")"
				[ $size = small ] && in=$small_in || in=$large_in
				"$timed" -n $((runs / 2)) -i "$in" $(alone "$name.$size") \
					${resident:+-r "$resident"} -- "$@" \
					>>"$work/native.$size" || continue 3
			done
		done
		[ -z "${KEEP:-}" ] || cp "$work/native.small" "$KEEP/$name.native.small"
		[ -z "${KEEP:-}" ] || cp "$work/native.large" "$KEEP/$name.native.large"
	fi
	[ "${ONLY:-}" != native ] || continue
	heap=$(awk -F'\t' '$8 > n { n = $8 } END { print n + 0 }' "$work/native.large")
	run_model "$name" small "$small_in" "$heap" && run_model "$name" large "$large_in" "$heap" || continue
	awk -F'[\t,]' -v name="$name" -v calls_native="$calls_native" -v calls_model="$calls_model" -v OFS='\t' '
	# with marks (segments in column 11) a row is the least so far, else the mean counts
	FILENAME ~ /native\.small$/ {
		scalls = $9
		if ($11 || !smarks) s += ($1 - s) / ($11 ? 1 : ++sn)
		smarks += $11; su += $3; sk += $4
		next
	}
	FILENAME ~ /native\.large$/ {
		lcalls = $9
		if ($11 || !lmarks) l += ($1 - l) / ($11 ? 1 : ++ln)
		lmarks += $11
		if ($1 > most) most = $1
		lu += $3
		lk += $4
		if ($2 > ghz) ghz = $2
		next
	}
	FILENAME ~ /right$/ { split($3, e, ":"); if (e[1] == "cycles") right += FILENAME ~ /small/ ? -$1 : $1; next }
	FILENAME ~ /small$/ { split($3, e, ":"); a[e[1]] = $1; next }
	{ split($3, e, ":"); b[e[1]] = $1 }
	function d(e) { return b[e] - a[e] }
	END {
		i = d("instructions")
		if (!i) {
			print "real.sh: " name ": both sizes are the same to the model" >"/dev/stderr"
			exit
		}
		n = l * lu / (lu + lk) - s * su / (su + sk) - (lcalls - scalls) * calls_native	# user level
		m = d("cycles") - (lcalls - scalls) * calls_model
		print name, i, n, m, (n > 0 ? m / n : 0), ghz, lu / (lu + lk), most / l, \
			1000 * d("branch-misses") / i, 1000 * d("mem_load_retired.l1_miss") / i,
				1000 * d("mem_load_retired.l2_miss") / i, 1000 * d("mem_load_retired.l3_miss") / i,
				right ? right - (lcalls - scalls) * calls_model : right
	}' "$work/native.small" "$work/native.large" "$work/$name.small" "$work/$name.large" $([ "${RIGHT:-1}" = 0 ] ||
		echo "$work/$name.small.right" "$work/$name.large.right") >>"$work/rows"
	[ -z "${MISSED:-}" ] || tail -n 1 "$work/rows" >&2
done <"$work/list"

[ "${ONLY:-}" != native ] || exit 0
title=$("$softpmu" cores "$core" | sed -n 's/^title = \(.*[^ ]\) *# .*/\1/p')
cat <<END
## ${HEAD:-Real programs on this host}

User-level cycles of real programs, natively and under the model of \`softpmu calibrate\`'s core: $title.
Each program runs with a small and a large input, and the difference counts. Native cycles are time × frequency:
what $runs runs of each size take alone on their core, with the frequency measured right before and after each run. The
share of user level
is what the kernel's cpu-clock sampled in as many runs more. Page faults are left out (tests/native/resident.c), and
what a system call takes at user level: ${calls_native:-0} cycles natively, ${calls_model:-0} in the model. The ratio
is model ÷ native. IPC is native. Mispredicts
and misses of L1D, L2 and L3 are the model's, for 1000 instructions. The model executes the wrong path behind
mispredicted branches; the last column is model ÷ native with \`--no-wrong-path\`. Both sides have the processor
features of the tracer's CPUID; natively OPENSSL_ia32cap sets them, and GLIBC_TUNABLES:

    glibc.cpu.hwcaps=$hwcaps

Host: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), CPU family $(sed -n 's/^cpu family[^:]*: //p' /proc/cpuinfo | head -n 1), model $(sed -n 's/^model\t[^:]*: //p' /proc/cpuinfo | head -n 1).

| program | M instructions | M cycles: native | model | ratio | IPC | mispredicts | L1D | L2 | L3 | right path |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
END
awk -F'\t' '$3 > 0 {
	printf "| %s | %.0f | %.1f | %.1f | %.2f | %.2f | %.1f | %.1f | %.1f | %.2f | %s |\n", $1, $2 / 1e6, $3 / 1e6,
		$4 / 1e6, $5, $2 / $3, $9, $10, $11, $12,
		$13 ? sprintf("%.2f", $13 / $3) : "–"
	none += !$13
	e = $5 - 1
	sum += e < 0 ? -e : e
	signed += e
	if ((e < 0 ? -e : e) > worst) { worst = e < 0 ? -e : e; which = $1 }
	e = $13 / $3 - 1
	right += e < 0 ? -e : e
	n++
}
END {
	if (n)
		printf "\nMean absolute error of %d programs: %.1f %% (bound: 20 %%); mean signed %+.1f %%, " \
			"largest %.1f %% (%s).%s\n",
			n, 100 * sum / n, 100 * signed / n, 100 * worst, which,
				none ? "" : sprintf(" Without the wrong path: %.1f %%.", 100 * right / n)
}' "$work/rows"
