#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# trace --pipeline and block --timeline=FILE: excerpts of the pipeline in the formats of Konata and gem5. Readers of
# their own (tests/readers) check every rule of the formats' descriptions.
. "$TOP/tests/lib.sh"
kanata() { awk -f "$TOP/tests/readers/kanata.awk" "$1"; }
arrows() { awk -v say=arrows -f "$TOP/tests/readers/kanata.awk" "$1"; }
o3pipeview() { awk -f "$TOP/tests/readers/o3pipeview.awk" "$1"; }
# excerpt FILE OPTIONS...: writes FILE and the figures of the line on standard error: instructions uops wrong
excerpt() {
	file=$1; shift
	"$SOFTPMU" trace --pipeline "$file" "$@" >out 2>err || bad "softpmu trace --pipeline $file $*" err
	sed -n 's/^\[ softpmu trace: \([0-9]*\) instructions, \([0-9]*\) uops and \([0-9]*\) of wrong.*/\1 \2 \3/p' err
}

# A program with many wrong paths.
bare_stream hard.trace wrongpath hard 400
part="--replay hard.trace --start hard --stop 10000"
# shellcheck disable=SC2086	# several words
set -- $(excerpt hard.kanata $part)
figures=$(kanata hard.kanata) || bad "hard.kanata: $figures"
same "Kanata: rows, retired and flushed ones are the uops of the excerpt" "${figures% *}" "$(($2 + $3)) $2 $3"
same "the excerpt has as many instructions as --stop says" "$1" 10000
holds "wrong paths are in it" "$3 > 0.2 * $2"
# shellcheck disable=SC2086
counts=$("$SOFTPMU" stat -x, -e cycles,instructions,uops_issued.any,uops_retired.slots $part 2>&1 >/dev/null |
	cut -d, -f1 | tr '\n' ' ')
same "stat counts the same instructions" "$(echo "$counts" | cut -d' ' -f2)" "$1"
cycles=$(echo "$counts" | cut -d' ' -f1) taken=${figures##* }
holds "the excerpt takes about the cycles of the part: $taken of $cycles" \
	"$taken < 1.1 * $cycles && $taken > 0.9 * $cycles"
# shellcheck disable=SC2086
again=$(excerpt again.kanata $part)
same_files "the same stream gives the same file" hard.kanata again.kanata
same "and the same figures" "$again" "$1 $2 $3"
rows=$(grep -c '^L.*wrong path' hard.kanata)
same "each uop of a wrong path says so" "$rows" "$3"
has "the branch in front of it says so, too" '^L.*branch was mispredicted' hard.kanata
has "a row shows address and instruction" '^L	[0-9]*	0	[0-9a-f]* mov  *r[a-z0-9]*,' hard.kanata
has "a pair that is one uop shows both instructions" '^L	[0-9]*	0	[0-9a-f]* test .*; je ' hard.kanata
has "the rest names function and line" '^L	[0-9]*	1	hard+0x[0-9a-f]* (wrong_paths.c:[0-9]*)' hard.kanata
for stage in DSB MITE Al Is X Cm Rt; do
	has "the stage $stage is there" "^S	[0-9]*	0	$stage\$" hard.kanata
done

holds "uops name those whose results they take" "$(arrows hard.kanata) > 0.5 * $2"

# shellcheck disable=SC2086
set -- $(excerpt hard.o3 $part)
same "O3PipeView: rows, retired and squashed ones" "$(o3pipeview hard.o3)" "$(($2 + $3)) $2 $3"
# shellcheck disable=SC2086
excerpt hard.log --format=o3pipeview $part >/dev/null
same_files "--format chooses the format whatever the name" hard.o3 hard.log
# shellcheck disable=SC2086
set -- "$2" $(excerpt right.kanata --no-wrong-path $part)
same "without the wrong path nothing is flushed" "$4" 0
same "and the same uops retire" "$3" "$1"
figures=$(kanata right.kanata) || bad "right.kanata: $figures"

# The same instruction has the same cycles in both files: retirement of the retired ones, in order.
awk -F'\t' '$1 == "C=" || $1 == "C" { t += $2 } $1 == "S" && $4 == "Rt" { print t + 1 "000" }' hard.kanata >from-kanata
awk -F: '$2 == "retire" && $3 { print $3 }' hard.o3 >from-o3
same_files "retirement is the same in both formats" from-kanata from-o3

# Threads, and older cores with other pipelines.
bare_stream sharing.trace sharing atomic 200 3
excerpt threads.kanata --replay sharing.trace --stop 10M >/dev/null
figures=$(kanata threads.kanata) && ok "threads: $figures" || bad "threads: $figures"
threads=$(awk -F'\t' '$1 == "I" { print $4 }' threads.kanata | sort -u | wc -l)
same "each thread has its number" "$threads" 3
# shellcheck disable=SC2086
for core in core2 prescott skylake; do
	excerpt $core.kanata --core $core $part >/dev/null
	excerpt $core.out --core $core $part >/dev/null
	figures=$(kanata $core.kanata) && ok "$core: $figures" || bad "$core: $figures"
	same "$core: both formats have the same rows" "$(o3pipeview $core.out)" "${figures% *}"
done
! runs_32 || bare_stream work32.trace work32 20
for core in $(if_32 pentium pentium3); do
	excerpt "$core".kanata --core "$core" --replay work32.trace --stop 5000 >/dev/null
	excerpt "$core".o3pipeview --core "$core" --replay work32.trace --stop 5000 >/dev/null
	figures=$(kanata "$core".kanata) && ok "$core: $figures" || bad "$core: $figures"
	same "$core: both formats have the same rows" "$(o3pipeview "$core".o3pipeview)" "${figures% *}"
done

# Without --stop an excerpt has 100,000 instructions; with -o the stream is saved as well.
set -- $(excerpt long.kanata --replay hard.trace)
same "an excerpt has 100000 instructions" "$1" 100000
excerpt live.kanata -o live.trace --stop 1000 -- "$PROGRAMS/work" 20 >/dev/null
excerpt replayed.kanata --replay live.trace --stop 1000 >/dev/null
same_files "-o saves the stream, whose excerpt is the same" live.kanata replayed.kanata

# A few instructions.
code='mov rax,[rdi]; add rax,1; imul rbx,rax; mov [rsi],rbx; dec rcx; jne 1f; 1:'
"$SOFTPMU" block --asm "$code" --timeline=block.kanata >block.txt 2>err || bad "block" err
figures=$(kanata block.kanata) && ok "block: $figures" || bad "block: $figures"
"$SOFTPMU" block --asm "$code" --timeline=block.o3 >/dev/null
same "block: both formats have the same rows" "$(o3pipeview block.o3)" "${figures% *}"
"$SOFTPMU" block --asm "$code" >plain.txt
same_files "block prints its table as without a file" block.txt plain.txt
has "block: the pair that is one uop" '^L	[0-9]*	0	e dec .*; jne' block.kanata
# In each iteration add takes the load's result, imul that of add and its own of the last one, the store imul's, and dec
# that of the last dec.
awk -F'\t' '$1 == "L" && $3 == 0 { sub(/^[0-9a-f.]* /, "", $4); split($4, w, "[ ,]+"); name[$2] = w[1] " " w[2] }
	$1 == "W" { print name[$2] " <- " name[$3] }' block.kanata | sort | uniq -c | awk '$1 > 5' |
	sed 's/^ *[0-9]* //' | LC_ALL=C sort >dependences
cat >expected <<END
add rax <- mov rax
dec rcx; <- dec rcx;
imul rbx <- add rax
imul rbx <- imul rbx
mov QWORD <- imul rbx
END
same_files "block: each uop names its producers, and no other" dependences expected

# The readers find what is wrong.
spoiled() {	# CLAIM READER FILE PROGRAM: the reader refuses what sed's program makes of the file
	sed "$4" "$3" >spoiled
	if "$2" spoiled >said; then bad "the reader does not notice $1"
	else ok "the reader notices $1: $(head -n 1 said)"; fi
}
spoiled "another header" kanata block.kanata '1s/4/3/'
spoiled "a missing C=" kanata block.kanata '2d'
spoiled "an id that is left out" kanata block.kanata '/^I	3	/d'
spoiled "an uop that does not end" kanata block.kanata '/^R	5	/d'
spoiled "a command behind R" kanata block.kanata '/^R	5	/{p;}'
spoiled "a flushed uop that was retired" kanata block.kanata '/^R	5	/s/0$/1/'
spoiled "a producer that does not exist" kanata block.kanata '/^W	/s/	[0-9]*	0$/	9999	0/'
spoiled "another type of dependence" kanata block.kanata '/^W	/s/0$/1/'
spoiled "a tab in a text" kanata block.kanata '/^L	2	0	/s/imul/i	mul/'
spoiled "a line that is missing" o3pipeview block.o3 '9d'
spoiled "a decreasing tick" o3pipeview block.o3 '12s/:[0-9]*$/:1000/'
spoiled "a squashed uop that goes on" o3pipeview block.o3 '11s/:[0-9]*$/:0/'

refuse "an option of the model without --pipeline" "--core is about the model" \
	"$SOFTPMU" trace --core skylake -- "$PROGRAMS/work"
refuse "--format alone" "goes with --pipeline" "$SOFTPMU" trace --format kanata -- "$PROGRAMS/work"
refuse "another format" "format" "$SOFTPMU" trace --pipeline x --format vcd -- "$PROGRAMS/work"
refuse "two names for the stream" "are the same" "$SOFTPMU" trace --pipeline x -o y --save-stream z -- "$PROGRAMS/work"
refuse "a stream that is saved again" "exclude each other" "$SOFTPMU" trace --pipeline x -o y --replay hard.trace
refuse "a folder that is not there" "cannot create" "$SOFTPMU" trace --pipeline no/x --stop 10 --replay hard.trace
refuse "a full disk" "cannot write" "$SOFTPMU" trace --pipeline /dev/full --replay hard.trace
refuse "block: standard output" "name of a file" "$SOFTPMU" block --asm nop --timeline=-
refuse "block: --format alone" "goes with --timeline" "$SOFTPMU" block --asm nop --format kanata
exit $failed
