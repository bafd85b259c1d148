# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# shellcheck disable=SC2154	# the script that sources this file sets TOP, SOFTPMU, work and streams
# To be sourced: recorded streams of some ten to some hundred million instructions, and what the programs read.
# make_stream NAME records $streams/NAME if it is not there.  $work is the folder of the inputs, which take the source
# tree as text.  Set before: text_bytes, the length of the text; rows, sqlite3's table, of which it reads up to row
# rows_to; keys, python3's.
cat "$TOP"/src/*/*.c "$TOP"/src/*/*/*.c | head -c "$text_bytes" >"$work/text"
sed 's/the/The/; 7~90d' "$work/text" >"$work/other"
cat >"$work/unit.c" <<'C'
struct node { struct node *left, *right; long key; };
long sum(struct node *n) { return n ? n->key + sum(n->left) + sum(n->right) : 0; }
struct node *insert(struct node *n, struct node *x)
{
	if (!n) return x;
	if (x->key < n->key) n->left = insert(n->left, x); else n->right = insert(n->right, x);
	return n;
}
void sort(int *a, int n)
{
	for (int i = 1; i < n; i++)
		for (int k = i; k && a[k - 1] > a[k]; k--) { int t = a[k]; a[k] = a[k - 1]; a[k - 1] = t; }
}
C
record() {	# NAME PROGRAM...
	name=$1; shift
	[ -f "$streams/$name" ] || "$SOFTPMU" trace -q -o "$streams/$name" "$@" >/dev/null
}
make_stream() {
	own=${OWN_PROGRAMS:-$TOP/build/tests/programs}
	case $1 in
	awk) record awk awk 'BEGIN { for (i = 0; i < 12000; i++) { k = i * 7919 % 3001; n[k] += length(i k) }
		for (k in n) s += n[k]; print s }' ;;
	sqlite3) record sqlite3 sqlite3 :memory: "CREATE TABLE t(a INTEGER, b TEXT);
		WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n WHERE x<$rows)
		INSERT INTO t SELECT x*7919%$rows, 'row '||x FROM n; CREATE INDEX i ON t(a);
		SELECT count(*), sum(length(b)) FROM t WHERE a BETWEEN 1000 AND $rows_to;
		SELECT a%97, count(*), max(b) FROM t GROUP BY a%97 ORDER BY 2 DESC LIMIT 3;" ;;
	python3) record python3 /usr/bin/python3 -S -c "d = {}
for i in range($keys):
    k = str(i * 7919 % 10007)
    d[k] = d.get(k, 0) + len(k)
print(sum(sorted(d.values())))" ;;
	bzip2) record bzip2 bzip2 -c "$work/text" ;;
	xz) record xz xz -2 -T1 -c "$work/text" ;;
	gzip) record gzip gzip -c "$work/text" ;;
	sort) record sort sort "$work/text" ;;
	perl) record perl perl -e 'while (<>) { $n{$_}++ for split /\W+/ } print scalar keys %n' "$work/text" ;;
	cc1) record cc1 "$(gcc -print-prog-name=cc1)" -quiet -O1 -o /dev/null "$work/unit.c" ;;
	diff) record diff diff "$work/text" "$work/other" ;;
	chase) record chase "$own/chase" 16384 64 random 3000000 ;;
	stream) record stream "$own/stream" read 32768 12 ;;
	phases) record phases "$own/phases" 20 ;;
	threads) record threads "$own/threads" workers 3000000 ;;
	# a second set, of which nothing was tuned
	grep) for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do cat "$work/text"; done >"$work/texts"
		record grep grep -Eo '[a-z_]+\([^)]*\)' "$work/texts" ;;
	sed) record sed sed -E 's/([a-z]+)_([a-z]+)/\2_\1/g' "$work/text" ;;
	zstd) record zstd zstd -q -9 --single-thread -c "$work/text" ;;
	jq) awk 'BEGIN { print "["; for (i = 0; i < 1500; i++) printf "{\"a\": %d, \"b\": \"x%d\"},\n", i * 7919 % 3001,
			i; print "{}]" }' >"$work/json"
		record jq jq 'map(select(.a != null)) | group_by(.a % 7) | map([.[].a] | add)' "$work/json" ;;
	tclsh) echo 'proc fib n { if {$n < 2} { return $n }; expr {[fib [expr {$n - 1}]] + [fib [expr {$n - 2}]]} }
		for {set i 0} {$i < 4000} {incr i} { lappend l [expr {$i * 7919 % 3001}]; set d($i) $i }
		puts [fib 17]; puts [llength [lsort -integer $l]]' >"$work/script.tcl"
		record tclsh tclsh "$work/script.tcl" ;;
	bc) echo 'scale = 1300; a(1) * 4; e(1); l(2)' >"$work/pi.bc"
		record bc sh -c 'exec bc -lq "$1" </dev/null' sh "$work/pi.bc" ;;
	openssl) record openssl openssl enc -aes-256-cbc -pbkdf2 -iter 6000 -k x -in "$work/text" ;;
	as) awk 'BEGIN { for (i = 0; i < 12000; i++) printf "l%d: mov %d(%%rdi,%%rax,4), %%ecx\n add $%d, %%rcx\n",
			i, i % 900, i % 120; print " jne l" i - i % 30 }' >"$work/long.s"
		record as as -o "$work/long.o" "$work/long.s" ;;
	objdump) record objdump objdump -d --no-show-raw-insn "$own/phases" ;;
	factor) record factor factor 9999999999999937 99999999999999961 999999999999999877 \
		999999999999999989 1000000016000000063 ;;
	git) record git git diff --no-index --stat "$work/text" "$work/other" ;;
	readelf) record readelf readelf -Wwi "$own/phases" ;;
	# a third set, chosen before any of it was measured; recorded without an environment, which moves the stack
	m4) { echo "define(\`f', \`ifelse(eval(\$1 > 1), 1, \`eval(f(decr(\$1)) + f(eval(\$1 - 2)))', \$1)')dnl"
		echo "define(\`l', \`\$1 ifelse(\$1, 900, , \`l(incr(\$1))')')dnl"; echo "f(14)"; echo "l(1)"
		} >"$work/script.m4"
		record m4 env -i m4 "$work/script.m4" ;;
	mawk) record mawk env -i mawk '{ for (i = 1; i <= NF; i++) if (length($i) > 3) n[substr($i, 1, 4)]++ }
		/[a-z]+_[a-z]+\(/ { gsub(/_/, "-"); m++ } END { for (k in n) if (n[k] > 9) s++; print s, m }' \
		"$work/text" ;;
	sha256sum) record sha256sum env -i sha256sum "$work/text" "$work/other" "$work/text" ;;
	gcc) record gcc env -i "$(gcc -print-prog-name=cc1)" -quiet -O1 -I "$TOP/src" -I "$TOP/include" -o /dev/null \
		"$TOP/src/util/near.c" ;;
	xmllint) awk 'BEGIN { print "<a>"; for (i = 0; i < 6000; i++) printf "<b k=\"%d\"><c>%d &amp; x</c></b>\n",
			i * 7919 % 3001, i; print "</a>" }' >"$work/some.xml"
		record xmllint env -i xmllint --xpath 'count(//b[@k > 1500]/c)' "$work/some.xml" ;;
	zip) record zip env -i zip -q -X - "$work/text" ;;
	unzip) (cd "$work" && rm -f text.zip && zip -q -X text.zip text other)
		record unzip env -i unzip -p "$work/text.zip" ;;
	lz4) record lz4 env -i lz4 -q -c -9 "$work/text" ;;
	ld) for i in 1 2 3 4 5 6; do
			awk -v f="$i" 'BEGIN { for (i = 0; i < 900; i++)
				printf ".globl s%d_%d\ns%d_%d: call s%d_%d\n", f, i, f, i, f % 6 + 1, i * 7 % 900
				}' >"$work/part.s"
			as -o "$work/part$i.o" "$work/part.s"
		done
		record ld env -i ld -e s1_0 -o "$work/linked" "$work"/part?.o ;;
	nm) record nm env -i nm -n "$own/../../libsoftpmu.a" ;;
	bash) record bash env -i bash -c 'for ((i = 0; i < 2500; i++)); do k=k$((i * 7919 % 301)); s=${s: -40}${k/k/x}
		case $k in *7) ((n += ${#s})) ;; esac; done; echo $n' ;;
	tsort) awk 'BEGIN { for (i = 0; i < 9000; i++) print i * 7919 % 9001, 9001 + i }' >"$work/pairs.txt"
		record tsort env -i tsort "$work/pairs.txt" ;;
	ctags) record ctags env -i ctags -f - "$TOP/src/cli/profile/cmd_record.c" "$TOP/src/util/json.c" ;;
	json) record json env -i /usr/bin/python3 -S -c "import json
d = [{'a': i * 7919 % 3001, 'b': ['x%d' % i, None, i / 7]} for i in range(1500)]
print(sum(len(e['b']) for e in json.loads(json.dumps(d)) if e['a'] % 3))" ;;
	*) echo "no stream is known of $1" >&2; return 2 ;;
	esac || [ -s "$streams/$1" ]	# diff's status is 1, and git's
}
