#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A frame of further real programs, from which a sample is drawn at random and judged once, blind. For
# LIST=tests/accuracy/frame.sh of real.sh: makes their inputs in the current folder, beside those of real.sh, and prints
# the list.
#   frame.sh --packages	prints the Debian 12 packages that the programs need, for apt-get install
#   frame.sh --drawn		prints the 24 names that were drawn: the first ones by the SHA-256 sum of
#				"softpmu 2026-11-29 NAME". The model had met none of them before.
# Nothing else installs these packages. real.sh leaves out programs that are not installed.
# No program is one of real.sh, held-out.sh or more.sh. Each program has one thread, or is told to have one, and does
# the same in every run.
set -eu
if [ "${1:-}" = --packages ]; then
	cat <<-END
		speex twolame mpg123 wavpack codec2 soundstretch
		graphicsmagick imagemagick-6.q16 netpbm potrace gifsicle libopenjp2-tools libtiff-tools
		qrencode ocrad gocr pngquant librsvg2-bin jbigkit-bin djvulibre-bin
		ncompress bsdiff advancecomp
		original-awk busybox clisp gprolog picolisp newlisp mujs duktape
		zsh mksh jimsh slsh pari-gp yabasic icont iconx
		gcc ragel iverilog byacc lemon flatbuffers-compiler capnproto sassc cc65
		datamash db5.3-util html2text aspell aspell-en
		unrtf
		texlive-binaries nettle-bin gsl-bin lp-solve gmp-ecm nauty apcalc lrslib qhull-bin
		admesh tetgen metis coreutils
		cscope cflow uncrustify geographiclib-tools ninja-build
		bwa bedtools fasttree clustalw
		git rdiff hexyl
		figlet boxes libsvm-tools nec2c
	END
	exit
fi
if [ "${1:-}" = --drawn ]; then
	sed -n 's/^\([a-z0-9_+.-]*\);.*;.*/\1/p' "$0" | while read -r name; do
		echo "$(printf 'softpmu 2026-11-29 %s' "$name" | sha256sum | cut -c1-16) $name"
	done | sort | sed -n '1,24s/.* //p'
	exit
fi
: "${TOP:?}"
quiet() { "$@" >/dev/null 2>&1 || true; }
make_to() { to=$1; shift; "$@" >"$to" 2>/dev/null || true; }	# make_to FILE COMMAND...: the command may be missing

# --- sources of the inputs ---
gcc -O2 -o signals "$TOP/tests/accuracy/more/signals.c"
tr -cs 'a-zA-Z_' '\n' <text | awk 'length > 3 && !seen[$0]++' >names
# bases COUNT LENGTH: prints sequences of bases in FASTA, where each is like the one before
bases() {
	awk -v count="$1" -v n="$2" 'function random(r) { s = (s * 16807) % 2147483647; return s % r }
		BEGIN { s = 42; for (k = 0; k < n; k++) b[k] = substr("ACGT", 1 + random(4), 1)
			for (i = 1; i <= count; i++) {
				for (k = 0; k < n / 20; k++) b[random(n)] = substr("ACGT", 1 + random(4), 1)
				printf ">s%d", i
				for (k = 0; k < n; k++) printf "%s%s", k % 60 ? "" : "\n", b[k]
				print "" } }'
}
# numbers COUNT COLUMNS RANGE: prints rows of random numbers
numbers() {
	awk -v count="$1" -v n="$2" -v r="$3" 'BEGIN { s = 42; for (i = 0; i < count; i++) for (k = 1; k <= n; k++) {
		s = (s * 16807) % 2147483647; printf "%d%s", s % r, k < n ? " " : "\n" } }'
}

# --- inputs ---
for size in small large; do
	n=$([ $size = small ] && echo 1 || echo 10)
	# sound, pictures
	./signals wav $((n * 4000)) >tones.$size.wav
	./signals wav $((n * 16000)) >music.$size.wav
	./signals ppm $((n * 150)) 128 >picture.$size.ppm
	./signals wav $((n * 60000)) >song.$size.wav
	./signals ppm $((n * 60)) 96 >photo.$size.ppm
	./signals ppm $((n * 30)) 64 >icon.$size.ppm
	quiet speexenc music.$size.wav music.$size.spx
	quiet twolame --quiet song.$size.wav song.$size.mp2
	quiet wavpack -q -y music.$size.wav -o music.$size.wv
	make_to music.$size.c2 c2enc 1300 music.$size.wav -
	head -c $((n * 250)) text >labels.$size
	make_to picture.$size.pgm ppmtopgm picture.$size.ppm
	pamditherbw picture.$size.pgm 2>/dev/null | pamtopnm >picture.$size.pbm 2>/dev/null || true
	make_to picture.$size.gif gm convert picture.$size.ppm gif:-
	quiet gm convert icon.$size.ppm icon.$size.png
	quiet gm convert picture.$size.ppm picture.$size.tif
	quiet opj_compress -n 4 -i icon.$size.ppm -o icon.$size.j2k
	ppmtopgm icon.$size.ppm 2>/dev/null | pamditherbw 2>/dev/null | pamtopnm >icon.$size.pbm 2>/dev/null || true
	head -n $((n * 2)) "$TOP/README.md" | cut -c1-50 | pbmtext >page.$size.pbm 2>/dev/null || true
	head -n "$n" "$TOP/README.md" | cut -c1-25 | pbmtext >scan.$size.pbm 2>/dev/null || true
	awk -v n=$((12 * n)) 'BEGIN { print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"200\" height=\"200\">"
		for (i = 0; i < n; i++)
			printf "<path d=\"M%d %d C%d 9 %d 80 %d %d z\" fill=\"#%02x8f%02x\" opacity=\"0.%d\" " \
				"stroke=\"black\"/><circle cx=\"%d\" cy=\"%d\" r=\"%d\" stroke-width=\"2\"/>\n",
				i * 7 % 200, i * 13 % 200, i * 3 % 99, i * 17 % 150, i * 11 % 200, i * 29 % 200,
				i * 5 % 256, i % 256, i % 8 + 1, i * 31 % 200, i * 37 % 200, i % 19 + 1
		print "</svg>" }' >paths.$size.svg

	# texts
	make_to table.$size.Z compress -c table.$size
	head -c $((n * 15000)) text >pages.$size
	head -c $((n * 4000)) text >part.$size
	head -c $((n * 1000)) pages.$size >bit.$size
	awk 'NR % 50 == 7 { print "another line " NR } NR % 61 { print }' pages.$size >pages.$size.new
	awk 'NR % 50 == 7 { print "another line " NR } NR % 61 { print }' text.$size >text.$size.new
	quiet bsdiff text.$size text.$size.new text.$size.bsdiff
	bzip2 -c page.$size >page.$size.bz2
	awk -v n=$((100 * n)) 'BEGIN { print "<html><body>" } NR <= n { gsub(/[<>&]/, "");
		print NR % 9 ? "<p>" $0 "<b>" $1 "</b></p>" : \
			"<table><tr><td>" $0 "</td><td><i>" $2 "</i></td></tr></table>" }
		END { print "</body></html>" }' text | iconv -c -t ascii >pages.$size.html
	numbers $((1000 * n)) 4 100 >numbers.$size
	awk '{ print NR * 7919 % 10007 " " $1 "\n" $0 }' numbers.$size >pairs.$size
	rm -f pairs.$size.db
	quiet db5.3_load -T -t btree -f pairs.$size pairs.$size.db
	{ printf '%s\n' '{\rtf1\ansi\deff0 {\fonttbl {\f0 Times;}}'
	  awk -v n=$((90 * n)) 'NR <= n { gsub(/[{}\\]/, ""); print "\\f0\\fs24 {\\b " NR "} " $0 "\\par" }' text
	  echo '}'; } >pages.$size.rtf
	awk -v n=$((400 * n)) 'NR <= n { printf "\\indexentry{%s!part %d}{%d}\n", $0, NR % 5,
		NR % 211 }' names >pages.$size.idx

	# sources of programs
	cat "$TOP"/src/*/*.c | head -n $((100 * n)) >source.$size.c
	cat "$TOP"/src/*/*.c | head -n $((900 * n)) >sources.$size.c
	{ awk -v n=$((10 * n)) 'BEGIN { print "%token NUMBER\n%%\nlist: | list r0;"; for (i = 0; i < n; i++)
		printf "r%d: r%d \047%c\047 r%d { $$ = $1 + $3; } | \047(\047 r%d \047)\047 | NUMBER;\n",
			i, i + 1, 42 + i % 2, i + 1, i + 1
		printf "r%d: NUMBER;\n%%%%\n", n }'; } >grammar.$size.y
	awk -v n=$((4 * n)) 'BEGIN { for (i = 0; i < n; i++)
		printf "r%d(A) ::= r%d(B) PLUS%d r%d(C). { A = B + C; }\nr%d ::= LITERAL%d NUMBER.\n", i, i + 1, i,
			i + 1, i, i
		printf "r%d ::= NUMBER.\n", n }' >rules_$size.y
	{ echo '%%{ machine names; main := ('
	  awk -v n=$((40 * n)) 'NR <= n { printf "%s\047%s\047", (NR > 1 ? " | " : ""), $0 }' names
	  printf '%s\n' ')*; }%%' '%% write data;' 'void f(const char *p, const char *pe, int cs) {' '%% write init;' \
		'%% write exec;' '}'; } >names.$size.rl
	awk -v n=$((10 * n)) 'BEGIN { for (i = 0; i < n; i++) {
		printf "module m%d(input clk, input [15:0] a, b, output reg [15:0] q);\n" \
			"  wire [15:0] s = a * %d + (b ^ q);\n" \
			"  always @(posedge clk) if (s[%d]) q <= s - b; else case (a[1:0]) 0: q <= a; 1: q <= b;\n" \
			"    default: q <= q + 1; endcase\nendmodule\n", i, i + 3, i % 16 }
		print "module top; reg clk = 0; reg [15:0] a = 1; wire [15:0] q[0:" n - 1 "];"
		for (i = 0; i < n; i++) printf "  m%d u%d(clk, a, 16\047d%d, q[%d]);\n", i, i, i * 7, i
		print "  always @(posedge clk) a <= a * 5 + 1;"
		print "  initial begin repeat (100) #1 clk = ~clk; $display(\"%d\", q[0]);" \
			" $finish(0); end\nendmodule" }' \
		>chip.$size.v
	quiet iverilog -o chip.$size.vvp chip.$size.v
	awk -v n=$((25 * n)) 'BEGIN { print "namespace Pages;"; for (i = 0; i < n; i++)
		printf "enum E%d : byte { A, B, C }\ntable T%d { a:int = %d; b:string; c:[%s]; e:E%d = B; }\n",
			i, i, i, i ? "T" i - 1 : "int", i
		print "root_type T0;" }' >pages.$size.fbs
	awk -v n=$((8 * n)) 'BEGIN { print "@0xbf5147bb3c3e4a52;"; for (i = 0; i < n; i++)
		printf "struct T%d { a @0 :Int32 = %d; b @1 :Text; c @2 :List(T%d);" \
			" enum E { x @0; y @1; } e @3 :E; }\n",
			i, i, i ? i - 1 : 0 }' >pages.$size.capnp
	awk -v n=$((8 * n)) 'BEGIN {
		print "$w: 10px; @mixin box($c) { border: $w solid $c; &:hover { color: lighten($c, 9%); } }"
		for (i = 0; i < n; i++) printf ".k%d { width: $w * %d; .in, a > b { @include box(#%02x4422); } " \
			"@if %d > 7 { margin: percentage(%d / 999); } }\n", i, i, i % 256, i % 11, i }' \
				>pages.$size.scss
	awk -v n=$((6 * n)) 'BEGIN { for (i = 0; i < n; i++)
		printf "int f%d(int *s, int n) {\n  int i, sum = 0x%x;\n" \
			"  for (i = 0; i < n && s[i %% %d] != 7; ++i)\n" \
			"    sum += (s[0] << %d) ^ s[i & 1] * (n > i ? %d : 3);\n  return sum & 255;\n}\n",
			i, i, i % 9 + 2, i % 8, i % 13 }' >functions.$size.c
	awk -v n=$((200 * n)) 'BEGIN { print "rule cc\n  command = cc $in -o $out\n"
		for (i = 1; i <= n; i++) printf "build o%d: cc s%d | o%d\n", i, i, (i > 1 ? int(i / 2) : n + 1)
		for (i = 1; i <= n; i++) printf "build s%d: phony\n", i
		printf "build o%d: phony\n", n + 1 }' >build.$size.ninja

	# numbers, graphs, formulas
	awk -v n=$((n == 1 ? 8 : 38)) 'BEGIN { print "min: "
		for (i = 1; i <= n; i++) for (k = 1; k <= n; k++) printf " + %d x%d_%d\n",
			(i * 37 + k * 91 + i * k) % 53 + 1, i, k
		print ";"
		for (i = 1; i <= n; i++) { for (k = 1; k <= n; k++) printf " + x%d_%d", i, k;
			print " <= " 40 + i % 7 ";" }
		for (k = 1; k <= n; k++) { for (i = 1; i <= n; i++) printf " + x%d_%d", i, k;
			print " >= " 20 + k % 11 ";" } }' \
		>transport.$size.lp_solve
	echo 100433627766186892221372630609062766858404681029709092356097 >composite
	numbers $((6 * n)) 1 1000000000 | sed 's/$/0000000000000061/' >integers.$size
	quiet nauty-geng -q 7 graphs.small.g6
	quiet nauty-geng -q -c 8 graphs.large.g6
	awk -v n=$((n == 1 ? 4 : 24)) 'BEGIN { print "V-representation\nbegin\n" 3 * n " 5 integer"; for (i = 1;
		i <= 3 * n; i++)
		print "1 " i " " i * i " " i * i * i " " i * i % 17; print "end" }' >hull.$size.ext
	{ printf '3\n%d\n' $((100 * n)); numbers $((100 * n)) 3 10007; } >points.$size
	{ printf '3\n%d\n' $((2500 * n)); numbers $((2500 * n)) 3 10007; } >cloud.$size
	{ printf '%d 3 0 0\n' $((150 * n)); numbers $((150 * n)) 3 10007 | awk '{ print NR " " $0 }';
		} >points_$size.node
	awk -v n=$((300 * n)) 'BEGIN { print "solid pages"; for (i = 0; i < n; i++) {
		print "facet normal 0 0 1\nouter loop"
		print "vertex " i " 0 " i % 7 "\nvertex " i + 1 " 0 " (i + 1) % 7 "\nvertex " i " 1 " i % 7
		print "endloop\nendfacet" } print "endsolid pages" }' >solid.$size.stl
	side=$([ $size = small ] && echo 20 || echo 120)
	awk -v n="$side" 'BEGIN { print n * n, 2 * n * (n - 1); for (i = 0; i < n; i++) for (k = 0; k < n; k++) { o = ""
		if (i) o = o " " (i - 1) * n + k + 1; if (k) o = o " " i * n + k
		if (i < n - 1) o = o " " (i + 1) * n + k + 1; if (k < n - 1) o = o " " i * n + k + 2; print o } }' \
			>mesh.$size
	awk -v n=$((120 * n)) 'BEGIN { for (i = 0; i < n; i++)
		printf "%.3f %.3f %.3f %.3f\n", i * 7 % 80, i * 3 % 170, i * 11 % 70, i * 13 % 160 }' >ways.$size
	awk -v n=$((40 * n)) 'BEGIN { for (i = 0; i < n; i++) { printf "%s", i % 2 ? "+1" : "-1"
		for (k = 1; k < 20; k++) printf " %d:%.2f", k, (i * k * 37 + i % 2 * 41) % 101 / 101; print "" } }' \
			>vectors.$size
	cat <<-END >wire.$size.nec
		CE
		GW 1 $((n == 1 ? 9 : 61)) 0 0 0 0 0 10 0.001
		GE 0
		EX 0 1 5 0 1 0
		FR 0 $((n == 1 ? 1 : 6)) 0 0 14 0.1
		RP 0 19 37 1000 0 0 5 10
		EN
	END

	# sequences, packets, games
	bases 1 $((6000 * n)) >genome.$size.fa
	bases $((n == 1 ? 4 : 12)) 150 >family.$size.fa
	bases $((n == 1 ? 8 : 30)) 60 | awk '/^>/ { printf "%s%s\n", (NR > 1 ? "\n" : ""), $0; next } { printf "%s",
		$0 }
		END { print "" }' >aligned.$size.fa
	for k in a b; do awk -v n=$((400 * n)) -v f=$((${#k} + ${#size})) -v k=$k 'BEGIN { for (i = 0; i < n; i++)
		printf "chr%d\t%d\t%d\tp%d\n", i * 5 / n, i * 300 + (k == "a" ? 0 : i * 37 % 300),
			i * 300 + 450 + i * 11 % 200, i }' \
		>spans.$size.$k; done

	# the same in several languages
	m=$((450 * n))
	cat >count.$size.js <<-END
		var n = $m, seed = 42, words = {}, list = [];
		function random() { seed = (seed * 16807) % 2147483647; return seed; }
		for (var i = 0; i < n; i++) { var w = 'w' + random() % 97; words[w] = (words[w] || 0) + 1;
			if (i % 3 == 0) list.push({ key: random() % 1000, name: w }); }
		list.sort(function (a, b) { return a.key - b.key; });
		var s = list.map(function (e) { return e.name.replace(/w(\d)/, '\$1-'); }).join(',');
		print(s.length + ' ' + words.w7);
	END
	cat >count.$size.gp <<-END
		s=0; for(i=1,$m,s+=eulerphi(i)*sigma(i)%97); print(s)
		P=prod(i=1,$((m / 70)),x^2+i*x+1); print(polcoeff(P*P,7)); print(#factor(P)[,1])
	END
	cat >count.$size.bas <<-END
		dim a(100)
		seed = 42 : text\$ = ""
		for i = 1 to $((5 * m))
		  seed = mod(seed * 1103 + 12345, 65536) : k = mod(seed, 100)
		  a(k) = a(k) + i : if mod(i, 9) = 0 text\$ = right\$(text\$ + str\$(k), 30)
		next i
		print a(7), text\$
	END
	cat >count.$size.calc <<-END
		n = $((m / 8)); s = 0; for (i = 1; i <= n; i++) s += sqrt(i, 1e-30) * fact(i) / (i + 1); print int(s);
	END
done
cat >fields.awk <<'AWK'
{ for (i = NF; i > 0; i--) if ($i ~ /^[a-z_]+$/) n[$i] += length($i); gsub(/[0-9]+/, "#"); len += index($0, "#") }
END { for (w in n) if (n[w] > most || n[w] == most && w < best) { most = n[w]; best = w } print best, most, len }
AWK
cat >count.lisp <<'LISP'
(defvar *n* (parse-integer (car (last ext:*args*))))
(defvar *seed* 42)
(defun rnd (r) (setf *seed* (mod (* *seed* 16807) 2147483647)) (mod *seed* r))
(defun insert (k tree) (cond ((null tree) (list k nil nil))
  ((< k (first tree)) (list (first tree) (insert k (second tree)) (third tree)))
  ((> k (first tree)) (list (first tree) (second tree) (insert k (third tree)))) (t tree)))
(let ((tree nil) (h (make-hash-table :test 'equal)))
  (dotimes (i (floor *n* 12)) (setf tree (insert (rnd 100000) tree)) (incf (gethash (format nil "w~d" (rnd 97)) h 0)))
  (labels ((depth (x) (if x (1+ (max (depth (second x)) (depth (third x)))) 0)))
    (format t "~d ~d~%" (depth tree) (hash-table-count h))))
LISP
cat >queens.base <<'PROLOG'
queens(N, Qs) :- numlist_(1, N, Ns), select_queens(Ns, [], Qs).
numlist_(N, N, [N]) :- !.
numlist_(A, N, [A|T]) :- B is A + 1, numlist_(B, N, T).
select_queens([], Qs, Qs).
select_queens(Un, Safe, Qs) :- pick(Q, Un, Rest), \+ attack(Q, 1, Safe), select_queens(Rest, [Q|Safe], Qs).
pick(X, [X|T], T).
pick(X, [H|T], [H|R]) :- pick(X, T, R).
attack(X, N, [Y|_]) :- ( X is Y + N ; X is Y - N ), !.
attack(X, N, [_|T]) :- M is N + 1, attack(X, M, T).
solve(K, K) :- !.
solve(I, K) :- queens(8, _), J is I + 1, solve(J, K).
PROLOG
{ cat queens.base; echo ':- initialization((current_prolog_flag(argv, A), last_(A, W), atom_number(W, N),
	K is N // 100, solve(0, K), halt)).'
  echo 'last_([X], X) :- !.'; echo 'last_([_|T], X) :- last_(T, X).'; } >queens.pl
{ cat queens.base; echo ':- initialization((argument_list([W|_]), number_atom(N, W), K is N // 100, solve(0, K))).';
	} >hops.pl
quiet gplc --no-top-level -o hops hops.pl
cat >count.l <<'LISP'
(let (N (* (format (opt)) 12) S 42 L NIL)
   (for I N (setq S (% (* S 16807) 2147483647)) 
      (let A (assoc (% S 37) L) (if A (con A (+ (cdr A) I)) (push 'L (cons (% S 37) I)))) )
   (let M (by cdr sort (mapcar '((X) (cons (car X) (% (cdr X) 997))) L)) (println (length M) (car M))) )
(bye)
LISP
cat >count.lsp <<'LISP'
(set 'n (int (main-args -1)) 's 42 'l '() 'total 0)
(for (i 1 n) (set 's (% (* s 16807) 2147483647)) (push (string "w" (% s 97)) l -1)
  (if (= (% i 5) 0) (inc total (length (replace "w" (l (% s i)) "vv")))))
(println total " " (length (unique l)) " " (first (sort l)))
(exit)
LISP
cat >count.zsh <<'ZSH'
n=$(($1 / 5)) sum=0; typeset -A count; list=()
for ((i = 0; i < n; i++)); do
  ((sum = (sum * 31 + i) % 10007)); w=w$((sum % 97)); ((count[$w]++)); list+=($w)
  [[ $w == *7 ]] && text=${w/w/v}$text; ((${#text} > 99)) && text=${text[1,20]}
done
echo $sum ${#count} ${#list} ${(U)text}
ZSH
cat >count.ksh <<'KSH'
n=$(($1 / $2)) i=0 sum=0 text=
while ((i < n)); do
	((i = i + 1)); word=w$((i * 7919 % 1009)); sum=$(((sum * 31 + i) % 1000003))
	case $word in *77*|w1?) text=$text${word#w}, ;; *9) text=${text%,*} ;; esac
	a[i % 50]=$word; [ ${#text} -lt 200 ] || text=
done
echo $sum "$text" "${a[7]}"
KSH
cat >count.sh <<'SH'
n=$(($1 / $2)) i=0 sum=0 text=
while [ $i -lt "$n" ]; do
	i=$((i + 1)); word=w$((i * 7919 % 1009)); sum=$(( (sum * 31 + i) % 1000003 ))
	case $word in *77*|w1?) text=$text${word#w}, ;; *9) text=${text%,*} ;; esac
	[ ${#text} -lt 200 ] || text=
done
echo $sum "$text"
SH
cat >count.tcl <<'TCL'
set n [expr {[lindex $argv 0] / 2}]; set seed 42; set total 0
for {set i 0} {$i < $n} {incr i} { set seed [expr {($seed * 16807) % 2147483647}]; set w w[expr {$seed % 97}]
  incr count($w); lappend all $w; if {[string match *7* $w]} { incr total [string length [join [split $w 7] --]] } }
puts "$total [llength [lsort $all]] [array size count]"
TCL
cat >count.sl <<'SL'
variable n = 4 * atoi(__argv[1]), seed = 42L, count = Assoc_Type[Int_Type, 0], i, w, total = 0;
for (i = 0; i < n; i++) { seed = (seed * 16807L) mod 2147483647L; w = sprintf("w%d", seed mod 97L); count[w] += 1;
  if (is_substr(w, "7")) total += strlen(strtrans(w, "w", "v")); }
variable a = [0:n]; print(sum(sin(a) * a)); print(total);
SL
cat >count.icn <<'ICON'
procedure main(args)
  n := integer(args[1]); seed := 42; count := table(0); list := []
  every i := 1 to n do { seed := (seed * 16807) % 2147483647; w := "w" || seed % 97; count[w] +:= 1
    if find("7", w) then put(list, map(w, "w", "v")) }
  write(*list, " ", *sort(count, 4))
end
ICON
quiet icont -s -o count.icx count.icn
printf '%s\n' 'indent_with_tabs = 2' 'sp_arith = force' 'nl_if_brace = add' 'code_width = 100' >style.cfg
echo secret | tr -d '\n' >password
cat <<END
speexenc;/dev/null;speexenc tones.@.wav out.spx
speexdec;/dev/null;speexdec music.@.spx out.wav
twolame;/dev/null;twolame --quiet tones.@.wav out.mp2
mpg123;/dev/null;mpg123 -q -s song.@.mp2
wavpack;/dev/null;wavpack -q -y music.@.wav -o out.wv
wvunpack;/dev/null;wvunpack -q -y music.@.wv -o out.wav
c2enc;/dev/null;c2enc 1300 tones.@.wav out.c2
c2dec;/dev/null;c2dec 1300 music.@.c2 out.raw
soundstretch;/dev/null;soundstretch music.@.wav out.wav -tempo=+15
convert;/dev/null;env MAGICK_THREAD_LIMIT=1 convert-im6.q16 icon.@.ppm -colorspace Lab -blur 0x2 out.ppm
pamscale;/dev/null;pamscale 0.7 picture.@.ppm
pnmnlfilt;/dev/null;pnmnlfilt 1.0 0.5 picture.@.ppm
potrace;/dev/null;potrace -s -o out.svg icon.@.pbm
gifsicle;/dev/null;gifsicle -O3 --resize 100x90 -o out.gif picture.@.gif
opj_compress;/dev/null;opj_compress -n 4 -i photo.@.ppm -o out.j2k
opj_decompress;/dev/null;opj_decompress -i icon.@.j2k -o out.ppm
tiffcp;/dev/null;tiffcp -c lzw:2 picture.@.tif out.tif
qrencode;/dev/null;qrencode -S -v 12 -t UTF8 -o out.txt -r labels.@
ocrad;/dev/null;ocrad page.@.pbm
gocr;/dev/null;gocr scan.@.pbm
pngquant;/dev/null;env OMP_NUM_THREADS=1 pngquant --force -o out.png 32 icon.@.png
rsvg-convert;/dev/null;rsvg-convert -o out.png paths.@.svg
pbmtojbg;/dev/null;pbmtojbg picture.@.pbm out.jbg
c44;/dev/null;c44 photo.@.ppm out.djvu
compress;/dev/null;compress -c text.@
uncompress;/dev/null;compress -d -c table.@.Z
bsdiff;/dev/null;bsdiff pages.@ pages.@.new out.bsdiff
bspatch;/dev/null;bspatch text.@ out.bin text.@.bsdiff
advzip;/dev/null;advzip -a -q -2 out.zip pages.@
original-awk;/dev/null;original-awk -f fields.awk page.@
busybox-awk;/dev/null;busybox awk -f fields.awk pages.@
busybox-bunzip2;/dev/null;busybox bunzip2 -c page.@.bz2
busybox-sh;/dev/null;busybox sh count.sh % 3
clisp;/dev/null;clisp -q -norc count.lisp %
gprolog;/dev/null;./hops %
picolisp;/dev/null;picolisp count.l %
newlisp;/dev/null;newlisp count.lsp %
mujs;/dev/null;mujs count.@.js
duk;/dev/null;duk count.@.js
zsh;/dev/null;zsh -f count.zsh %
mksh;/dev/null;mksh count.ksh % 3
jimsh;/dev/null;jimsh count.tcl %
slsh;/dev/null;slsh -n count.sl %
gp;/dev/null;gp -q -f --default parisizemax=64M count.@.gp
yabasic;/dev/null;yabasic count.@.bas
iconx;/dev/null;iconx count.icx %
ragel;/dev/null;ragel -G2 -o out.c names.@.rl
vvp;/dev/null;vvp chip.@.vvp
byacc;/dev/null;byacc -o out.c grammar.@.y
lemon;/dev/null;lemon -q rules_@.y
flatc;/dev/null;flatc --cpp -o . pages.@.fbs
capnp;/dev/null;capnp compile -o- pages.@.capnp
sassc;/dev/null;sassc pages.@.scss
cc65;/dev/null;cc65 -O -o out.s functions.@.c
datamash;numbers.@;datamash -W -g 1 mean 2 sstdev 3 median 4 unique 2
db5.3_dump;/dev/null;db5.3_dump -p pairs.@.db
html2text;/dev/null;html2text -width 70 pages.@.html
aspell;pages.@;aspell list --lang=en --encoding=utf-8
unrtf;/dev/null;unrtf --html pages.@.rtf
makeindex;/dev/null;makeindex -q -o out.ind -t out.ilg pages.@.idx
streebog;text.@;nettle-hash -a streebog512
pbkdf2;password;nettle-pbkdf2 -l 32 -i % saltsalt
sm3;/dev/null;cksum -a sm3 tables.@
gsl-randist;/dev/null;gsl-randist 42 % dir-3d
lp_solve;/dev/null;lp_solve -S3 transport.@.lp_solve
ecm;composite;ecm -q -sigma 42 %
factor;integers.@;factor
labelg;/dev/null;nauty-labelg -q graphs.@.g6 out.g6
calc;/dev/null;calc -q -d -f count.@.calc
lrs;/dev/null;lrs hull.@.ext
qhull;cloud.@;qconvex n
qdelaunay;points.@;qdelaunay Qt i
admesh;/dev/null;admesh --write-ascii-stl=out.stl solid.@.stl
tetgen;/dev/null;tetgen -Q points_@.node
gpmetis;/dev/null;gpmetis -seed=42 mesh.@ 8
cscope;/dev/null;cscope -b -u -k -f out.cscope sources.@.c
cflow;/dev/null;cflow sources.@.c
uncrustify;/dev/null;uncrustify -q -c style.cfg -f functions.@.c
geodsolve;ways.@;GeodSolve -i -p 6
ninja;/dev/null;ninja -n -f build.@.ninja
bwa;/dev/null;bwa index -p out genome.@.fa
bedtools;/dev/null;bedtools intersect -wo -a spans.@.a -b spans.@.b
fasttree;/dev/null;fasttree -quiet -nt aligned.@.fa
clustalw;/dev/null;clustalw -infile=family.@.fa -outfile=out.aln -quiet
git;/dev/null;git hash-object --no-filters tables.@
rdiff;/dev/null;rdiff -f signature table.@ out.sig
hexyl;/dev/null;hexyl --no-squeezing pages.@
figlet;bit.@;figlet
boxes;part.@;boxes -d c
svm-train;/dev/null;svm-train -q vectors.@ out.model
nec2c;/dev/null;nec2c -i wire.@.nec -o out.nec
END
