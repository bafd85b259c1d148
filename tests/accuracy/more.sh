#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Further programs by kind, on which the accuracy of the model is studied. For LIST=tests/accuracy/more.sh of real.sh:
# makes their inputs in the current folder, beside those of real.sh, and prints the list.
#   more.sh --packages	prints the Debian 12 packages that the programs need, for apt-get install
# Nothing else installs these packages. real.sh leaves out programs that are not installed or have no compiler.
# Each program has one thread, or is told to have one, and does the same in every run. Two are not quite so:
# the runtimes of Go (bank) and Guile have threads of their own, which execute little, and Go seeds its maps at random.
set -eu
if [ "${1:-}" = --packages ]; then
	cat <<-END
		flac opus-tools lame vorbis-tools sox libjpeg-turbo-progs webp optipng pngcrush x264 vpx-tools
		brotli bzip2 xz-utils zstd lz4 lzop lzip pigz 7zip zip unzip
		luajit php-cli guile-3.0 ocaml-nox dc regina-rexx python3
		gcc g++ tcc gfortran nasm yasm re2c gperf fp-compiler
		libgdbm-dev liblmdb-dev
		xsltproc tidy xmlstarlet cmark discount groff-base mandoc protobuf-compiler
		source-highlight astyle indent universal-ctags clang-format cppcheck binutils gettext
		openssl gpg rhash argon2
		libopenblas-serial-dev libfftw3-dev glpk-utils minisat cadical z3 units gnuplot-nox
		golang-go rustc
	END
	exit
fi
: "${TOP:?}"
more=$TOP/tests/accuracy/more
quiet() { "$@" >/dev/null 2>&1 || true; }
make_to() { to=$1; shift; "$@" >"$to" 2>/dev/null || true; }	# make_to FILE COMMAND...: the command may be missing

# --- our own programs, in the languages whose compilers are installed ---
gcc -O2 -o signals "$more/signals.c"
quiet gcc -O3 -mavx2 -mfma -o vectors "$more/vectors.c" -lm
quiet gcc -O3 -o vectors-sse "$more/vectors.c" -lm
openblas=/usr/lib/x86_64-linux-gnu/openblas-serial
quiet gcc -O2 -DBLAS -I/usr/include/x86_64-linux-gnu/openblas-serial -o blas "$more/transforms.c" \
	-L$openblas -Wl,-rpath,$openblas -lopenblas
quiet gcc -O2 -o fftw "$more/transforms.c" -lfftw3 -lm
quiet gcc -O2 -DLMDB -o lmdb "$more/stores.c" -llmdb
quiet gcc -O2 -o gdbm "$more/stores.c" -lgdbm
quiet g++ -O2 -o formulas "$more/formulas.cc"
quiet gfortran -O3 -mavx2 -mfma -o cavity "$more/cavity.f90"
quiet env GOCACHE="$PWD/gocache" GO111MODULE=off go build -o bank "$more/bank.go"
rm -rf gocache
rustc=/usr/bin/rustc	# Debian's before others, because all should study the same program
[ -x $rustc ] || rustc=rustc
quiet $rustc -O -o machine "$more/machine.rs"
cp "$more/colours.ml" .
quiet ocamlopt -o colours colours.ml
quiet ocamlc -o colours.byte colours.ml

# formula VARIABLES CLAUSES: prints a random 3-SAT formula
formula() {
	awk -v v="$1" -v c="$2" 'function random(r) { s = (s * 16807) % 2147483647; return s % r }
		BEGIN { s = 42; print "p cnf " v " " c
			for (i = 0; i < c; i++) {
				for (k = 0; k < 3; k++) printf "%d ", (random(2) ? 1 : -1) * (1 + random(v))
				print 0 } }'
}

# --- inputs ---
f951=$(gfortran -print-prog-name=f951 2>/dev/null || echo f951)
mkdir -p protos
for size in small large; do
	n=$([ $size = small ] && echo 1 || echo 10)
	./signals wav $((n * 4500)) >tones.$size.wav
	./signals wav $((n * 30000)) >music.$size.wav
	./signals ppm $((n * 300)) 256 >picture.$size.ppm
	./signals ppm $((n * 60)) 128 >photo.$size.ppm
	./signals ppm $((n * 16)) 96 >icon.$size.ppm
	./signals y4m 96 80 $((3 * n)) >film.$size.y4m
	make_to tones.$size.flac flac -s -8 -c music.$size.wav
	make_to tones.$size.ogg oggenc -Q -s 1 -o - music.$size.wav
	make_to tones.$size.mp3 lame --quiet music.$size.wav -
	make_to picture.$size.jpg cjpeg -quality 85 picture.$size.ppm
	make_to picture.$size.webp cwebp -quiet picture.$size.ppm -o -
	quiet cwebp -quiet -lossless -z 0 icon.$size.ppm -o icon.$size.webp
	quiet dwebp -quiet icon.$size.webp -o icon.$size.png
	quiet vpxenc --quiet --codec=vp9 --threads=1 --cpu-used=8 -o film.$size.webm film.$size.y4m

	make_to tables.$size.bz2 bzip2 -c page.$size
	make_to tables.$size.gz gzip -nc tables.$size
	make_to tables.$size.xz xz -T1 -c table.$size
	make_to tables.$size.zst zstd --single-thread -q -c tables.$size
	make_to tables.$size.lz4 lz4 -q -c tables.$size
	make_to tables.$size.br brotli -q 5 -c tables.$size
	make_to tables.$size.lzo lzop -c tables.$size
	quiet 7zz a -bd -mmt=1 -m0=PPMd page.$size.7z page.$size
	quiet zip -q page.$size.zip table.$size

	head -n $((220 * n)) text | awk 'BEGIN { print "<rows>" }
		{ gsub(/[^A-Za-z0-9 ]/, "")
		  print "<row id=\"r" NR "\" kind=\"k" NR % 13 "\"><form>" $0 "</form></row>" }
		END { print "</rows>" }' >pages.$size.xml
	awk -v n=$((150 * n)) 'BEGIN { print "<html><body>" } NR <= n { gsub(/[<>&]/, "");
		print NR % 9 ? "<p>" $0 "<b>" $1 : "<table><tr><td>" $0 "<td><i>" $2 }' text >pages.$size.html
	cat "$TOP"/docs/*.md "$TOP"/docs/*/*.md | head -c $((30000 * n)) >pages.$size.md
	cat "$TOP"/docs/*.1 >manual
	sed "s/^[.']*//" text | head -c $((9000 * n)) >pages.$size.txt
	{ echo .TH PAGES 7; cat manual manual manual | head -c $((24000 * n)); } >pages.$size.7
	cat "$TOP"/src/*/*.c | head -n $((30 * n)) >source.$size.c
	cat "$TOP"/src/*/*.c | head -n $((200 * n)) >module.$size.c
	cat "$TOP"/src/*/*.c | head -n $((2000 * n)) >sources.$size.c
	for _ in $([ $size = small ] && echo 1 || echo 1 2 3 4 5 6 7 8 9 10); do cat code.large.c; done >codes.$size.c
	awk -v n=$((300 * n)) 'BEGIN { for (i = 0; i < n; i++)
		printf "struct s%d { int a, b[%d]; char *c; };\nstatic int f%d(struct s%d *s, int n) {\n" \
			"  int i, sum = 0x%x;\n  for (i = 0; i < n && s->b[i %% %d] != \047x\047; i++)\n" \
			"    sum += (s->a << %d) ^ s->b[i & 1] * (n > i ? %d : sizeof(*s));\n" \
			"  return s->c[sum & 1];\n}\n",
			i, i % 9 + 2, i, i, i, i % 9 + 2, i % 13, i }' >functions.$size.c
	head -n $((7 * 4 * n)) functions.$size.c >checks.$size.c
	head -n $((7 * 60 * n)) functions.$size.c >unit.$size.c
	quiet gcc -std=gnu17 -g -O0 -w -c -o unit.$size.o unit.$size.c
	awk -v n="$n" 'BEGIN {
		print "syntax = \"proto3\";\npackage pages;"
		for (i = 0; i < n; i++) {
			printf "message Row%d {\n  enum Kind { KIND%d_NONE = 0; KIND%d_ONE = 1; }\n", i, i, i
			for (k = 1; k < 12; k++)
				printf "  %s field_%d = %d;\n",
					k % 3 ? "repeated int64" : k % 2 ? "string" : "map<string, Kind>", k, k
			print "}" } }' >protos/pages_$size.proto
	awk -v n=$((n == 1 ? 1 : 7)) 'BEGIN {
		for (i = 0; i < n; i++) {
			printf "subroutine s%d(a, b, n)\n  integer, intent(in) :: n\n  real(8) :: a(n), b(n)\n" \
				"  integer :: i\n  do i = 2, n\n    a(i) = a(i - 1) * %d.5d0 + sqrt(abs(b(i)))\n" \
				"    if (b(i) > a(i)) b(i) = sum(a(1:i)) / i\n  end do\n" \
				"end subroutine\n", i, i % 17 } }' \
		>units.$size.f90
	awk -v n=$((55 * n)) 'BEGIN { print "bits 64\nsection .text"
		split("rax rbx rcx rdx rsi rdi r8 r9", r)
		for (i = 0; i < n; i++)
			printf "label%d:\n mov %s, [%s + 8*%s + %d]\n add %s, %d\n vaddps ymm%d, ymm%d, [%s]\n" \
				" cmp %s, %s\n jne label%d\n dd %d, label%d - label0\n",
				i, r[i % 8 + 1], r[i % 5 + 1], r[i % 3 + 1],
				i % 999, r[i % 7 + 1], i, i % 16, i % 9, r[i % 4 + 1], r[i % 8 + 1], r[i % 6 + 1],
				i - i % 10, i, i }' >code.$size.asm
	tr -cs 'a-zA-Z_' '\n' <text | awk -v n=$((30 * n)) 'length > 3 && !seen[$0]++ && k++ < n' >names.$size
	{ printf '%s\n' 'int scan(const char *YYCURSOR) {' 'const char *YYMARKER;' '/*!re2c' \
		're2c:define:YYCTYPE = char;' 're2c:yyfill:enable = 0;'
	  awk '{ printf "\"%s\" { return %d; }\n", $0, NR }' names.$size
	  printf '%s\n' '[a-z]+[0-9]* { return -1; }' '* { return 0; }' '*/' '}'; } >names.$size.re
	awk -v n=$((280 * n)) 'BEGIN { print "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\"\n" }
		NR <= n { gsub(/["\\%]/, ""); printf "msgid \"%d %s\"\nmsgstr \"%s %d\"\n\n", NR, $0, $0, NR }' \
		text >pages.$size.po
	mkdir -p "$size"
	{ echo "unit pages; interface implementation"
	  awk -v n=$((12 * n)) 'BEGIN { for (i = 0; i < n; i++)
		printf "function f%d(a, b: longint): longint; var i: longint; begin result := a; for i := 1 to b do " \
			"if odd(i) then result := result * %d + i else result := result xor (i shl 3); " \
			"end;\n", i, i + 3 }'
	  echo end.; } >$size/pages.pas
	{ awk -v n=$((7 * n)) 'BEGIN { for (i = 0; i < n; i++)
		printf "let rec f%d a l = match l with [] -> a | (x, y) :: r when x > %d -> f%d (a + y) r\n" \
			"  | (x, _) :: r -> List.fold_left (fun s z -> s + x * z) (f%d a r) " \
			"[ %d; a; x ]\n", i, i, i, i, i }'
	} >pages_$size.ml
	formula $([ $size = small ] && echo 60 250 || echo 150 630) >puzzle.$size.cnf
	formula $([ $size = small ] && echo 110 470 || echo 170 725) >riddle.$size.cnf
	# differences of integers for an SMT solver, and a transport problem for linear programming
	awk -v n=$((6 * n)) 'BEGIN { for (i = 0; i < n; i++) {
		print "(declare-const x" i " Int)(declare-const p" i " Bool)"
		if (i) print "(assert (=> p" i " (< (+ x" i " x" i - 1 ") " i * 7 % 23 ")))(assert (or p" i \
			" (> x" i " " i * 5 % 19 ")))(assert (>= (- (* 2 x" i ") x" i - 1 ") " i % 5 "))" }
		print "(check-sat)" }' >puzzle.$size.smt2
	awk -v n=$((n == 1 ? 8 : 26)) 'BEGIN { print "Minimize\n cost: "
		for (i = 1; i <= n; i++) for (k = 1; k <= n; k++)
			printf " + %d x%d_%d\n", (i * 37 + k * 91 + i * k) % 53 + 1, i, k
		print "Subject To"
		for (i = 1; i <= n; i++) { printf " from%d:", i
			for (k = 1; k <= n; k++) printf " + x%d_%d", i, k
			print " <= " 40 + i % 7 }
		for (k = 1; k <= n; k++) { printf " to%d:", k
			for (i = 1; i <= n; i++) printf " + x%d_%d", i, k
			print " >= " 20 + k % 11 }
		print "End" }' >transport.$size.lp
	awk -v n=$((120 * n)) 'BEGIN { for (i = 1; i <= n; i++)
		print i " " (i % 3 ? "mile/hour" : "lbf/inch^2") "\n" (i % 3 ? "m/s" : "kPa") }' >lengths.$size
	awk -v n=$((300 * n)) 'BEGIN { print "[0 sz]sz 0 sx 60 k"; for (i = 2; i < n / 8; i++)
		printf "%d v %d * %d 7 + / lx + sx %d 3 ^ 1009 %% sy ly %d %% 0 =z\n",
			i, i * i, i, i, i % 9 + 1
		print "lx p" }' >sums.$size.dc
done
echo secret | tr -d "\n" >password
cat >words.lua <<'LUA'
local n, seed, count = 1.5 * tonumber(arg[1]), 42, {}
local function random(r) seed = (seed * 16807) % 2147483647; return seed % r end
local points = {}
for i = 1, n do points[i] = { x = random(1000) / 10, y = random(1000) / 10, name = "p" .. random(499) } end
local sum = 0
for i = 1, n do
  local p, q = points[i], points[random(n) + 1]
  local d = math.sqrt((p.x - q.x) ^ 2 + (p.y - q.y) ^ 2)
  count[p.name] = (count[p.name] or 0) + d; sum = sum + (d > 50 and d or -d)
end
table.sort(points, function(a, b) return a.x < b.x or a.x == b.x and a.y < b.y end)
local sieve, primes = {}, 0
for i = 2, n do if not sieve[i] then primes = primes + 1; for k = i * i, n, i do sieve[k] = true end end end
print(string.format("%.6f %d %s", sum, primes, points[7].name))
LUA
cat >words.php <<'PHP'
<?php
class Item { public $key; public $next; function __construct($k, $n) { $this->key = $k; $this->next = $n; } }
$n = (int)$argv[1] * 2; $seed = 42; $count = []; $list = null;
for ($i = 0; $i < $n; $i++) {
	$seed = ($seed * 1103515245 + 12345) % 2147483648; $w = 'w' . $seed % 997;
	$count[$w] = ($count[$w] ?? 0) + 1; if ($i % 3 == 0) $list = new Item($w, $list);
	if ($i % 17 == 0) $all[] = strtoupper(str_replace('w', 'v-', $w)) . sprintf('%05d', $i);
}
for ($sum = 0, $at = $list; $at; $at = $at->next) $sum += strlen($at->key) * ord($at->key[1]);
arsort($count); ksort($all); preg_match_all('/V-(\d)7(\d*)/', implode(' ', $all), $m);
echo $sum, ' ', count($m[0]), ' ', array_sum($m[1]), ' ', max($count), "\n";
PHP
cat >tree.scm <<'SCM'
(define n (string->number (cadr (command-line))))
(define seed 42)
(define (random! r) (set! seed (modulo (+ (* seed 1103515245) 12345) 2147483648)) (modulo (quotient seed 256) r))
(define (insert t k) (cond ((null? t) (list k '() '())) ((< k (car t)) (list (car t) (insert (cadr t) k) (caddr t)))
  ((> k (car t)) (list (car t) (cadr t) (insert (caddr t) k))) (else t)))
(define (depth t) (if (null? t) 0 (+ 1 (max (depth (cadr t)) (depth (caddr t))))))
(let loop ((i 0) (t '())) (if (< i (quotient n 10)) (loop (+ i 1) (insert t (random! 100000)))
  (begin (display (depth t)) (newline))))
SCM
cat >words.rexx <<'REXX'
parse arg n .
seed = 42; total = 0; count. = 0; text = ''
do i = 1 to n % 8
  seed = (seed * 1103 + 12345) // 65536; w = 'w'seed // 97; count.w = count.w + 1
  if i // 5 = 0 then text = text w
  if pos('7', w) > 0 then total = total + length(translate(w, 'W', 'w')) * (seed // 13)
end
say total count.w7 words(text) wordpos('w55', text)
REXX
cat >parse.py <<'PY'
import sys
lines = ["def f%d(a, b=%d, *rest):\n    for i, c in enumerate(rest):\n"
         "        if c > %d and a[i:%d] or not b: yield {c: [x ** 2 for x in a], 'k': f'{b}-%d'}\n"
         "        try: a.g(b, *rest, key=lambda y: y + %d)\n        except (E%d, KeyError) as e: raise e from None\n"
         % ((n,) * 7) for n in range(int(sys.argv[1]) // 60)]
code = compile("".join(lines), "parse", "exec")
print(len(code.co_code), len(code.co_consts))
PY
cat >sheet.xsl <<'XSL'
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:output method="html"/>
<xsl:key name="kinds" match="row" use="@kind"/>
<xsl:template match="/rows"><ul><xsl:for-each select="row[generate-id() = generate-id(key('kinds', @kind)[1])]">
<xsl:sort select="@kind"/>
<li><xsl:value-of select="concat(@kind, ' ', count(key('kinds', @kind)))"/></li></xsl:for-each></ul>
<table><xsl:apply-templates select="row"><xsl:sort select="form"/></xsl:apply-templates></table></xsl:template>
<xsl:template match="row"><xsl:if test="contains(form, 'a')"><tr id="{@id}"><td><xsl:value-of
select="translate(substring(form, 1, 30), 'aeiou', 'AEIOU')"/></td></tr></xsl:if></xsl:template></xsl:stylesheet>
XSL
for size in small large; do
	cat >curves.$size.gp <<-END
		set terminal svg; set samples $([ $size = small ] && echo 500 || echo 5000)
		f(x) = sin(x) * exp(-x / 9) + besj0(3 * x)
		plot [0:20] f(x) with lines, [0:20] real(sqrt({1, 2} * f(x) ** 2)) with points, atan2(f(x), x)
	END
done
# The solvers end with 10 or 20, which timed.c takes for a failure.
echo '"$@"; case $? in 10 | 20) ;; *) exit 3 ;; esac' >solve.sh
openssl=$(command -v openssl || echo openssl)
said="concat(@id,'-',string-length(form))"	# what xmlstarlet prints of a row
key=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f iv=000102030405060708090a0b0c0d0e0f
cat <<END
flac;/dev/null;flac -s -5 -c tones.@.wav
unflac;/dev/null;flac -s -d -c tones.@.flac
opusenc;/dev/null;opusenc --quiet --serial 1 tones.@.wav -
lame;/dev/null;lame --quiet tones.@.wav -
mp3decode;/dev/null;lame --quiet --decode tones.@.mp3 -
oggenc;/dev/null;oggenc -Q -s 1 -o - tones.@.wav
oggdec;/dev/null;oggdec -Q -o - tones.@.ogg
sox;/dev/null;sox -D -V1 tones.@.wav -t wav - rate 32000 bass +3 reverb
cjpeg;/dev/null;cjpeg -quality 85 -optimize picture.@.ppm
djpeg;/dev/null;djpeg picture.@.jpg
jpegtran;/dev/null;jpegtran -rotate 90 -progressive picture.@.jpg
cwebp;/dev/null;cwebp -quiet -m 3 photo.@.ppm -o -
dwebp;/dev/null;dwebp -quiet -ppm picture.@.webp -o -
optipng;/dev/null;optipng -quiet -o1 -clobber -out out.png icon.@.png
pngcrush;/dev/null;pngcrush -q -force -m 5 icon.@.png out.png
x264;/dev/null;x264 --quiet --threads 1 --lookahead-threads 1 --asm avx2 --preset veryfast -o out.264 film.@.y4m
vpxenc;/dev/null;vpxenc --quiet --codec=vp8 --threads=1 --cpu-used=8 --ivf -o out.ivf film.@.y4m
vpxdec;/dev/null;vpxdec --threads=1 --rawvideo -o out.yuv film.@.webm
brotli;/dev/null;brotli -q 5 -c page.@
unbrotli;/dev/null;brotli -d -c tables.@.br
bunzip2;/dev/null;bunzip2 -c tables.@.bz2
gunzip;/dev/null;gzip -d -c tables.@.gz
unxz;/dev/null;xz -T1 -d -c tables.@.xz
unzstd;/dev/null;zstd --no-asyncio -q -d -c tables.@.zst
unlz4;/dev/null;lz4 -q -d -c tables.@.lz4
lzop;/dev/null;lzop -c tables.@
unlzop;/dev/null;lzop -d -c tables.@.lzo
lzip;/dev/null;lzip -2 -c page.@
pigz;/dev/null;pigz -p 1 -n -c text.@
un7zz;/dev/null;7zz e -so -mmt=1 -bd page.@.7z
zip;text.@;zip -q -X -9 - -
unzip;/dev/null;unzip -p page.@.zip
luajit;/dev/null;luajit words.lua %
luajit-off;/dev/null;luajit -joff words.lua %
php;/dev/null;php -n words.php %
guile;/dev/null;env GC_MARKERS=1 guile --no-auto-compile tree.scm %
ocamlrun;/dev/null;ocamlrun colours.byte % 4
dc;/dev/null;dc sums.@.dc
rexx;/dev/null;rexx ./words.rexx %
tcc;/dev/null;tcc -c -o out.o functions.@.c
f951;/dev/null;$f951 units.@.f90 -quiet -O1 -o out.s
nasm;/dev/null;nasm -f elf64 -o out.o code.@.asm
yasm;/dev/null;yasm -f elf64 -o out.o code.@.asm
re2c;/dev/null;re2c --no-generation-date -o out.c names.@.re
gperf;/dev/null;gperf -m 2 --output-file=out.c names.@
ppcx64;/dev/null;ppcx64 -n -Fu/usr/lib/x86_64-linux-gnu/fpc/3.2.2/units/x86_64-linux/rtl -Mobjfpc -O2 -FE. @/pages.pas
ocamlc;/dev/null;ocamlc.opt -c -o out.cmo pages_@.ml
lmdb;/dev/null;./lmdb % store.lmdb
gdbm;/dev/null;./gdbm % store.gdbm
xsltproc;/dev/null;xsltproc sheet.xsl pages.@.xml
parse.py;/dev/null;/usr/bin/python3 -I -S parse.py %
tidy;/dev/null;tidy -q -o out.html pages.@.html
xmlstarlet;/dev/null;xmlstarlet sel -t -m //row[contains(form,'e')] -v $said -n pages.@.xml
cmark;/dev/null;cmark pages.@.md
discount;/dev/null;markdown pages.@.md
troff;/dev/null;troff -Tascii pages.@.txt
mandoc;/dev/null;mandoc -T html pages.@.7
protoc;/dev/null;protoc --proto_path=protos --cpp_out=. pages_@.proto
source-highlight;/dev/null;source-highlight -s c -f html -i source.@.c -o out.html
astyle;module.@.c;astyle
indent;/dev/null;indent -o out.c codes.@.c
ctags;/dev/null;ctags-universal -f - sources.@.c
clang-format;/dev/null;clang-format --style=LLVM source.@.c
cppcheck;/dev/null;cppcheck -q -j 1 checks.@.c
msgfmt;/dev/null;msgfmt -o out.mo pages.@.po
readelf;/dev/null;readelf -W --debug-dump=info unit.@.o
chacha20;/dev/null;$openssl enc -chacha20 -K $key -iv $iv -in tables.@ -out out.bin
camellia;/dev/null;$openssl enc -camellia-256-cbc -K $key -iv $iv -in table.@ -out out.bin
sha3;/dev/null;$openssl dgst -sha3-512 table.@
ripemd160;/dev/null;gpg --no-options --no-keyring --batch --print-md RIPEMD160 tables.@
rhash;/dev/null;rhash --whirlpool --tiger --gost94 page.@
argon2;password;argon2 saltsalt -t 1 -k % -p 1
stencil;/dev/null;./vectors stencil %
filter;/dev/null;./vectors filter %
planets;/dev/null;./vectors planets %
blur;/dev/null;./vectors-sse blur %
filter-sse;/dev/null;./vectors-sse filter %
blas;/dev/null;env OPENBLAS_CORETYPE=Haswell ./blas %
fftw;/dev/null;./fftw %
glpsol;/dev/null;glpsol --lp transport.@.lp
minisat;/dev/null;sh solve.sh minisat -verb=0 riddle.@.cnf
cadical;/dev/null;sh solve.sh cadical -q puzzle.@.cnf
z3;/dev/null;z3 puzzle.@.smt2
units;lengths.@;units -t
gnuplot;/dev/null;gnuplot curves.@.gp
formulas;/dev/null;./formulas %
cavity;/dev/null;./cavity %
bank;/dev/null;env GODEBUG=asyncpreemptoff=1 ./bank %
machine;/dev/null;./machine %
colours;/dev/null;./colours % 1
END
