#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The rules of the tree: no binaries and no large files, few small pictures, which pages show, a licence line in every
# source, unique file names, at most 24 files in a folder of src, lines of at most 120 columns, functions of at most 100
# lines. Each check is also run on a small tree with one planted fault per rule.
. "$TOP/tests/lib.sh"
need git
git -C "$TOP" rev-parse --git-dir >/dev/null 2>&1 || skip "this is not a git checkout"

# Each of these functions prints one line per fault of the tree in the working directory.
tracked() { git ls-files -- "$@"; }

binaries() {
	tracked | xargs grep -l --binary-files=text "^$(printf '\177ELF')" | sed 's/$/: an ELF file/'
	tracked | xargs wc -c | awk '$2 != "total" && $1 > 1048576 { print $2 ": larger than 1 MB" }'
}

# A picture is a PNG in docs/pictures of at most 150 KB, taken by tools/docs/pictures.sh and shown by README or a page
# of docs; there are at most 12.  Pictures elsewhere, and those that the script takes but nobody added, are faults, too.
pictures() {
	tracked | grep -iE '\.(png|jpe?g|gif|webp|bmp|ico|pdf|mp4|webm)$' | grep -v '^docs/pictures/[a-z-]*\.png$' |
		sed 's/$/: a picture outside docs\/pictures/'
	tracked docs/pictures | grep -v '\.png$' | sed 's/$/: not a PNG/'
	tracked docs/pictures | xargs -r wc -c | awk '$2 != "total" && $1 > 153600 { print $2 ": larger than 150 KB" }'
	tracked docs/pictures | awk 'END { if (NR > 12) print "docs/pictures: " NR " files, more than 12" }'
	tracked docs/pictures | sed 's|.*/||; s|\.png$||' | sort >"$work/there"
	sed -n 's/^	shot \([a-z-]*\) [0-9].*/\1/p' tools/docs/pictures.sh 2>/dev/null | sort >"$work/taken"
	tracked README.md 'docs/*.md' | xargs -r grep -oh '](\(docs/\|\.\./\|\)pictures/[a-z-]*\.png)' |
		sed 's|.*/||; s|\.png)||' | sort -u >"$work/shown"
	comm -23 "$work/there" "$work/taken" | sed 's/$/: no such picture in pictures.sh/'
	comm -13 "$work/there" "$work/taken" | sed 's/$/: in pictures.sh, but not in docs\/pictures/'
	comm -23 "$work/there" "$work/shown" | sed 's/$/: no page shows it/'
}

# Sources and scripts need a licence line. Data files name their source instead; docs/examples have none because the
# documentation shows them as they are.
licences() {
	tracked '*.c' '*.h' '*.S' '*.cc' '*.def' '*.sh' '*.py' '*.awk' '*.lua' '*.mk' '*.yml' '*.1' '*.3' '*Makefile' \
		.ci |
		grep -v '^docs/examples/' | xargs awk '
		FNR <= 3 && /SPDX-License-Identifier: / { has[FILENAME] = 1 }
		END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in has)) print ARGV[i] ": no SPDX line" }'
}

# Exempt are data/ (a core and its uop table share a name), the fuzzers' corpus (names are hashes or describe the
# input), and README.md, LICENSE and Makefile, the names that readers and tools look for.
names() {
	tracked | grep -v -e '^data/' -e '^tests/fuzz/corpus/' | sed 's|.*/||' |
		grep -vx -e README.md -e LICENSE -e Makefile |
		sort | uniq -d | sed 's/$/: the name of two files/'
}

folders() {
	tracked src | sed 's|/[^/]*$||' | sort | uniq -c | awk '$1 > 24 { print $2 ": " $1 " files, more than 24" }'
}

# Tab stops of 8.  These may be longer: rows of tables (.tsv), goldens and the corpus, which are as long as what they
# hold; pictures; code blocks of .md files, which show what programs print; here-documents of scripts, which are
# programs and inputs: with another line break in a query, sqlite3 executes other instructions.
columns() {
	tracked | grep -v -e '^tests/golden/' -e '^tests/fuzz/corpus/' -e '\.tsv$' -e '\.svg$\|\.png$' -e '^COPYING$' |
		xargs awk '
	FNR == 1 { block = 0; here = ""; page = FILENAME ~ /\.md$/; script = FILENAME ~ /\.sh$/ }
	here != "" { word = $0; sub(/^\t+/, "", word); if (word == here) here = ""; next }
	script && !/^[ \t]*#/ && match($0, /<<-?.?[A-Z]+/) {
		here = substr($0, RSTART, RLENGTH); sub(/^<<-?[^A-Z]?/, "", here)
	}
	page && /^ *```/ { block = !block }
	page && (block || /^    /) { next }
	length <= 120 && !/\t/ { next }
	{
		n = split($0, part, "\t"); wide = 0
		for (i = 1; i < n; i++) wide = (int((wide + length(part[i])) / 8) + 1) * 8
		wide += length(part[n])
		if (wide > 120) print FILENAME ":" FNR ": " wide " columns"
	}'
}

# A struct core_wanted that somebody declares without a value, or fills in through a pointer, has fields that nobody
# set.
wanted() {
	tracked | grep '^src/.*\.[ch]$' | xargs grep -nE /dev/null \
		-e 'struct core_wanted [a-z_]+(, [a-z_]+)*;' -e '[(,] *struct core_wanted \*' | grep -v 'extern '
}

# From the line of the name to the closing brace.  These may be longer than 100 lines, and why:
cat >long <<'END'
src/core/wrongpath/walker.c walker_walk	a jump table by kind of operation, whose labels must share a function
tests/fuzz/fuzz_pmu_model.c stretch	each kind of record is drawn where the one before it ends
tests/programs/trace_count.c main	the options of a program that only tests use
tests/unit/fixtures/stream_producer.h act_as_tracer	a script of a tracer, one case a test
END
LONG=$work/long
functions() {
	tracked '*.c' '*.h' | xargs awk '
	FILENAME == list { if (!/^#/) may[$1 " " $2] = 1; next }
	FNR == 1 { begin = 0; signature = 0 }
	begin && /^}/ {
		if (FNR - begin + 1 > 100 && !((FILENAME " " name) in may))
			print FILENAME ":" begin ": " name ": " FNR - begin + 1 " lines"
		begin = 0; signature = 0
	}
	begin { next }
	/^\{/ && signature { begin = signature; next }
	/^[A-Za-z_].*\(/ && !/;[ \t]*$/ && !/^#/ {
		signature = FNR; name = $0
		gsub(/__attribute__\(\([^)]*\)\) */, "", name)
		sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
	}
	/[;}][ \t]*$/ { signature = 0 }' list="$LONG" "$LONG"
}

faults() {	# CHECK DIR
	(cd "$2" && "$1")
}
none() {	# CLAIM CHECK
	faults "$2" "$TOP" >found
	if [ -s found ]; then bad "$1" found; else ok "$1"; fi
}
none "no tracked file is a binary or larger than 1 MB" binaries
none "pictures are small, taken by the script and shown by a page" pictures
none "every source and script has its SPDX line" licences
none "file names are unique" names
none "no folder of src has more than 24 files" folders
none "no line of more than 120 columns" columns
none "no function of more than 100 lines" functions
none "what a run wants (struct core_wanted) is returned whole, never filled in" wanted

# The checks themselves: a tree without faults, then one fault a rule.
mkdir -p tree/src/room && cd tree && git init -q . || exit 1
printf '/* SPDX-License-Identifier: GPL-2.0-or-later */\nint f(void)\n{\n\treturn 0;\n}\n' >src/room/good.c
awk 'BEGIN { print "# a table"; for (i = 0; i < 30; i++) printf "%s\t", "long row"; print "" }' >rows.tsv
git add .
for rule in binaries pictures licences names folders columns functions wanted; do
	same "a tree in order: no $rule" "$(faults $rule .)" ""
done
cp /bin/true src/room/program
awk 'BEGIN { for (i = 0; i < 40000; i++) print "a line of thirty characters..." }' >large.txt
echo 'int g;' >src/room/bare.c
mkdir src/other && cp src/room/good.c src/other/good.c
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do cp src/room/good.c "src/room/file$i.c"; done
awk 'BEGIN { printf "/* "; for (i = 0; i < 13; i++) printf "ten chars "; print "*/" }' >>src/room/good.c
awk 'BEGIN { print "\nstatic int\nlong_one(int a,\n\tint b)\n{"; for (i = 0; i < 100; i++) print "\ta += b;";
	print "\treturn a;\n}" }' >>src/room/file1.c
git add .
same "an ELF file and a large one are found" "$(faults binaries . | sort | tr '\n' ' ')" \
	"large.txt: larger than 1 MB src/room/program: an ELF file "
git rm -qf src/room/program
mkdir -p docs/pictures tools/docs
head -c 160000 /dev/zero >docs/pictures/big.png
head -c 10 /dev/zero | tee docs/pictures/bare.png docs/pictures/text.txt >src/room/icon.ico
printf 'shot() {\n}\n	shot big 100\n	shot absent 100 1200\n' >tools/docs/pictures.sh
echo '![What it is](docs/pictures/big.png)' >README.md
git add .
same "pictures out of place, too large, unnamed, unshown and not taken are found" \
	"$(faults pictures . | cut -d: -f1 | tr '\n' ' ')" \
	"src/room/icon.ico docs/pictures/text.txt docs/pictures/big.png bare text.txt absent bare text.txt "
git rm -rqf docs tools README.md src/room/icon.ico
same "a source without its licence is found" "$(faults licences .)" "src/room/bare.c: no SPDX line"
same "two files of one name are found" "$(faults names .)" "good.c: the name of two files"
same "a full folder is found" "$(faults folders .)" "src/room: 26 files, more than 24"
same "a long line is found" "$(faults columns .)" "src/room/good.c:6: 135 columns"
printf '/* SPDX-License-Identifier: GPL-2.0-or-later */\nvoid f(void)\n{\n\tstruct core_wanted w;\n}\n' >src/room/want.c
git add .
same "a struct core_wanted without a value is found" "$(faults wanted . | cut -d: -f1,2)" "src/room/want.c:4"
same "a long function is found" "$(faults functions .)" "src/room/file1.c:8: long_one: 105 lines"
exit $failed
