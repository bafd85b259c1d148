#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The disassembler prints what objdump prints: every instruction of .text of real binaries, 64 and 32 bits, in AT&T and
# Intel syntax, is compared in text (runs of blanks count as one) and length. At least 99.9 % must be equal, for each
# file and syntax. For files with symbols the names of addresses are compared, too.
. "$TOP/tests/lib.sh"
export LC_ALL=C
objdump --version 2>/dev/null | head -n 1 | grep -q ' 2\.40$' || skip "objdump of binutils 2.40 is not installed"
compared=0

listing() {	# FILE STYLE: "ADDRESS<tab>TEXT"
	objdump -d -j .text -M "$2" --no-show-raw-insn "$1" | sed -n 's/^ *\([0-9a-f]\{1,\}\):\t\(.*\)$/\1\t\2/p' |
		tr -s ' ' | sed 's/ $//'
}
compare() {	# WHAT FILE STYLE [names]
	listing "$2" "$3" >"$work/listing"
	cut -f 1 "$work/listing" >"$work/addresses"
	cut -f 2- "$work/listing" | if [ $# -gt 3 ]; then cat; else sed -e 's/ <.*>$//'; fi >"$work/theirs"
	"$PROGRAMS/disassemble" "$2" "$3" ${4+names} <"$work/addresses" | tr -s ' ' >"$work/lines" ||
		{ bad "$1: disassemble"; return; }
	cut -d ' ' -f 2- "$work/lines" >"$work/ours"
	# An instruction ends where objdump's next line begins, except before runs of zeros, which objdump skips.
	cut -d ' ' -f 1 "$work/lines" >"$work/ends"
	{ tail -n +2 "$work/addresses"; tail -n 1 "$work/ends"; } >"$work/next"
	: >"$work/different"
	paste "$work/theirs" "$work/ours" "$work/next" "$work/ends" |
	awk -F '\t' -v what="$1" -v out="$work/different" '
		{ n++; if ($1 == $2 && $3 == $4) same++;
			else print "    " $1 "   |   " $2 ($3 == $4 ? "" : "   (length)") >out }
		END { share = n ? 100 * same / n : 0; printf "%s: %d of %d equal, %.3f %%\n", what, same, n, share;
			exit !(n && share >= 99.9) }' ||
		bad "$1"
	head -n 5 "$work/different"
	compared=$((compared + 1))
}

for file in /usr/lib/x86_64-linux-gnu/libbz2.so.1.0 /usr/bin/gzip /bin/bash /lib/x86_64-linux-gnu/libc.so.6 \
	/usr/bin/python3 \
            /lib/x86_64-linux-gnu/libm.so.6 /usr/lib/x86_64-linux-gnu/libcrypto.so.3 /usr/lib32/libc.so.6 \
            "$PROGRAMS/work32"; do
	[ -f "$file" ] || continue
	for style in att intel; do
		compare "$file ($style)" "$file" "$style"
	done
done
for file in "$SOFTPMU" "$PROGRAMS/work32"; do
	for style in att intel; do
		compare "$file with names ($style)" "$file" "$style" names
	done
done
[ "$compared" -ge 12 ] || bad "only $compared comparisons"
exit $failed
