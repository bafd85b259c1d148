#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Held-out programs, which were not used to develop any mechanism or table. For LIST=tests/accuracy/held-out.sh of
# real.sh: makes their inputs in the current folder, beside those of real.sh, and prints the list. real.sh leaves out
# programs that are not installed or have no compiler.
set -eu
: "${TOP:?}"
held=$TOP/tests/accuracy/held
quiet() { "$@" >/dev/null 2>&1 || true; }

# --- our own kernels, in the languages whose compilers are installed ---
quiet gcc -O2 -o kernels "$held/kernels.c" -lm
quiet g++ -O2 -o containers "$held/containers.cc"
quiet gfortran -O3 -mavx2 -mfma -o matmul "$held/matmul.f90"
quiet fpc -O3 -FE. -onbody "$held/nbody.pas"
quiet gnatmake -q -O2 "$held/mandelbrot.adb"
quiet rustc -O -o index "$held/index.rs"

# --- inputs ---
clang=$(command -v clang || echo clang)
for size in small large; do
	rows=$([ $size = small ] && echo 600 || echo 6000)
	head -n "$rows" table | awk -F'\t' '
		function clean(s) { gsub(/[^A-Za-z0-9 _.,:-]/, "", s); return s }
		BEGIN { print "[" }
		{ printf "%s{\"id\": %d, \"form\": \"%s\", \"uops\": [%d, %d.5, %d], " \
			"\"of\": {\"length\": %d, \"even\": %s}}\n",
			(NR > 1 ? "," : ""), NR, clean($1), NR % 7, NR % 5, NR % 3,
			length($0), NR % 2 ? "false" : "true" }
		END { print "]" }' >rows.$size.json
	awk 'BEGIN { print "<rows>" } /"id"/ { gsub(/[^A-Za-z0-9 ]/, "", $0);
		print "<row id=\"r" NR "\"><form>" $0 "</form><even>" NR % 2 "</even></row>" } END {
		print "</rows>" }' \
		rows.$size.json >rows.$size.xml
	awk -v n="$rows" 'NR <= 6 * n' text >old.$size
	awk -v n="$rows" 'NR <= 6 * n { if (NR % 97 == 5) print "another line " NR; if (NR % 61 != 7) print;
		if (NR % 211 == 9) print }' text >new.$size
	{ echo 'define(`twice'"'"', `$1$1'"'"')'\
'define(`count'"'"', `ifelse($1, 0, `.'"'"', `eval($1 % 7)count(decr($1))'"'"')'"'"')'
	  awk -v n="$rows" 'BEGIN { for (i = 0; i < n / 100; i++) print "count(" 40 + i % 50 ") twice(word" i ")" }';
	  	} >macros.$size
	awk -v n="$rows" 'BEGIN { for (i = 0; i < n / 3; i++) { printf "t%d: t%d s%d\n\t@echo $@ $^\n", i + 1, i, i;
		printf "s%d:;\n", i } print "t0:;" }' >rules.$size.mk
	{ echo 'scale=40'; awk -v n="$rows" \
		'BEGIN { for (i = 1; i <= n / 200; i++) print "s = s + e(1 / " i ") * sqrt(" i ") - a(" i ")" }'; echo \
		s; } >sums.$size.bc
	nm "$(command -v node || echo /dev/null)" 2>/dev/null |
		awk -v n="$rows" '$3 ~ /^_Z/ && k < n / 4 { print $3; k++ }' >symbols.$size
	[ -s symbols.$size ] || nm -D "$(gcc -print-file-name=libstdc++.so.6)" 2>/dev/null |
		awk -v n="$rows" '$3 ~ /^_Z/ && k < n / 4 { sub(/@.*/, "", $3); print $3; k++ }' >symbols.$size
	source=$([ $size = small ] && echo /dev/null || echo "$TOP/src/pmu/pmu_table.c")
	quiet gcc -std=gnu17 -I"$TOP/include" -I"$TOP/src" -D_GNU_SOURCE -O2 -S -x c -o code.$size.s "$source"
	quiet "$clang" -std=gnu17 -I"$TOP/include" -I"$TOP/src" -D_GNU_SOURCE -E -P -x c -o unit.$size.c "$source"
	quiet as -o code.$size.o code.$size.s
done
cat >queens.lua <<'LUA'
local n, seed, count = tonumber(arg[1]) // 4, 42, {}
local function random() seed = (seed * 1103515245 + 12345) % 2147483648; return seed end
local function insert(t, k) if not t then return { key = k } end
  if k < t.key then t.left = insert(t.left, k) elseif k > t.key then t.right = insert(t.right, k) end return t end
local tree, parts = nil, {}
for i = 1, n do
  local r = random(); tree = insert(tree, r); local w = "w" .. r % 1009; count[w] = (count[w] or 0) + 1
  parts[#parts + 1] = w:upper():gsub("W", "v")
end
local text = table.concat(parts, " "); local total = 0
for w in text:gmatch("v(%d+)") do total = total + w end
print(total, #text)
LUA
cat >words.rb <<'RUBY'
n, seed, count = ARGV[0].to_i, 42, Hash.new(0)
points = (1..n).map { |i| seed = (seed * 1103515245 + 12345) % 2147483648; [seed % 1000, i, "k#{seed % 911}"] }
points.each { |a, b, k| count[k] += a * b % 17 }
s = points.sort_by { |a, b, _| [a, -b] }.map { |a, b, k| "#{k}:#{a}" }.join(",")
puts count.values.sum, s.scan(/k(\d+):(\d)/).size, (1..n).inject { |a, b| (a * 31 + b) % 1000003 }
RUBY
cat >script.js <<'JS'
const n = +process.argv[2]; let seed = 42; const random = () => seed = (seed * 16807) % 2147483647;
class Node { constructor(key) { this.key = key; this.left = this.right = null; } }
let root = null; const count = new Map();
for (let i = 0; i < n; i++) {
  const k = random(), node = new Node(k); let at = root;
  if (!at) root = node; else for (;;) { if (k < at.key) { if (!at.left) { at.left = node; break; } at = at.left; } else { if (!at.right) { at.right = node; break; } at = at.right; } }
  const w = 'w' + k % 997; count.set(w, (count.get(w) || 0) + 1);
}
const list = [...count].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
console.log(JSON.stringify(list.slice(0, 5)), list.map(e => e[0].replace(/w(\d)/, '$1-')).join('').length);
JS
cat >script.tcl <<'TCL'
set n [expr {[lindex $argv 0] / 3}]
proc random {} { global seed; set seed [expr {($seed * 16807) % 2147483647}] }
set seed 42
for {set i 0} {$i < $n} {incr i} { set w w[expr {[random] % 997}]; incr count($w); lappend all $w }
set sorted [lsort -unique $all]; set total 0
foreach w $sorted { incr total [string length [string map {w word 1 one} $w]]; if {[regexp {w(\d)5(\d*)} $w -> a b]} { incr total $a } }
puts "$total [llength $sorted]"
TCL
cat >loops.sh <<'SH'
n=$(($1 / $2)) i=0 sum=0 text=
while [ $i -lt "$n" ]; do
	i=$((i + 1)); word=w$((i * 7919 % 1009)); sum=$(( (sum * 31 + i) % 1000003 ))
	case $word in *77*|w1?) text=$text${word#w}, ;; *9) text=${text%,*} ;; esac
	set -- "$word" $sum $i; [ ${#text} -lt 200 ] || text=
done
echo $sum "$text"
SH
cat <<END
tclsh;/dev/null;tclsh script.tcl %
lua;/dev/null;lua5.4 queens.lua %
dash;/dev/null;dash loops.sh % 6
bash;/dev/null;bash loops.sh % 24
bc;/dev/null;bc -lq sums.@.bc
m4;/dev/null;m4 macros.@
make;/dev/null;make -n -f rules.@.mk t200
as;/dev/null;as -o out.o code.@.s
xmllint;/dev/null;xmllint --xpath count(//row[even=1]/form[contains(.,'r')]) rows.@.xml
diff;/dev/null;diff -u old.@ new.@
c++filt;symbols.@;c++filt
lz4;/dev/null;lz4 -6 -c page.@
md5sum;/dev/null;md5sum tables.@
b2sum;/dev/null;b2sum tables.@
base64;/dev/null;base64 tables.@
fft;/dev/null;./kernels fft %
hashjoin;/dev/null;./kernels hashjoin %
quicksort;/dev/null;./kernels quicksort %
dijkstra;/dev/null;./kernels dijkstra %
spmv;/dev/null;./kernels spmv %
queens;/dev/null;./kernels queens %
distance;/dev/null;./kernels distance %
life;/dev/null;./kernels life %
words;/dev/null;./containers words %
tree;/dev/null;./containers tree %
regex;/dev/null;./containers regex %
matmul;/dev/null;./matmul %
nbody;/dev/null;./nbody %
mandelbrot;/dev/null;./mandelbrot %
index;/dev/null;./index % text
jq;/dev/null;jq -c [.[]|select(.of.even)|{form,sum:(.uops|add),n:(.form|length)}]|group_by(.sum)|map({k:.[0].sum,n:length,m:(map(.n)|max)}) rows.@.json
node;/dev/null;node --jitless --single-threaded script.js %
ruby;/dev/null;ruby3.1 --disable-gems words.rb %
clang;/dev/null;$clang -cc1 -O1 -triple x86_64-linux-gnu -emit-obj -w -o out.o unit.@.c
END
