#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole machine boots Debian's kernel: what goes in, what comes out, a saved state, and the guest's own perf.
# The kernels come from tools/machine/fetch-kernel.sh.
. "$TOP/tests/lib.sh"
[ -x "$TOP/build/libexec/softpmu-machine" ] || skip "the whole machine is not built (make machine)"
kernel=$TOP/build/machine/kernel/vmlinuz-amd64
[ -f "$kernel" ] || skip "there is no kernel to boot (tools/machine/fetch-kernel.sh)"
machine() { timeout 300 "$SOFTPMU" machine "$@"; }
perf=$(command -v perf_6.1 || command -v perf)
cat >loop.c <<'C'
int main(void) { for (volatile int i = 0; i < 1000000; i++) {} return 0; }
C
cat >hello.c <<'C'
#include <stdio.h>
int main(int n, char **v) { printf("%d words, %d bits: %s\n", n, (int)(8 * sizeof(void *)), v[n - 1]); return 3; }
C
cc -O1 -o loop loop.c && cc -static -m32 -o hello32 hello.c || exit 1
echo text >file

# One machine for most of it: it boots once.
set -- --kernel "$kernel" --state state --add loop --add hello32 --add file
[ -z "$perf" ] || set -- "$@" --add "$perf"
machine "$@" --out first --kallsyms symbols --console console --report one.report --run "cd $work; echo to out;
	echo to err >&2; cat file; ./hello32 a b; echo \$?; mkdir /out/d; cp file /out/d; ln -s d/file /out/link
	uname -r; cat /proc/cpuinfo >/out/cpuinfo; exit 7" >one 2>err
same "the exit status is the command's" $? 7
has "standard output comes" '^to out$' one
same "standard error comes apart" "$(cat err)" "to err"
has "a file of the host is there" '^text$' one
has "a 32-bit program runs" '^3 words, 32 bits: b$' one
version=$(sed 's/^linux-image-\([^ ]*\).*/\1/' "$TOP/build/machine/kernel/version-amd64" 2>/dev/null)
has "the kernel is the one given" "^$version" one
same "--out brings a file" "$(cat first/d/file)" text
same "and a symbolic link" "$(readlink first/link)" d/file
machine --kernel "$kernel" --functional --run 'printf "\303\251" | LC_ALL=C.UTF-8 wc -m' >out.txt 2>err
same "the guest has the locale C.UTF-8" "$(cat out.txt)" 1
has "the processor has AVX2" '^flags.* avx2' first/cpuinfo
hasnt "and no AVX-512, as a client" '^flags.* avx512' first/cpuinfo
has "its last cache is the core's" '^cache size.*: 6144 KB' first/cpuinfo
has "--kallsyms brings the guest's symbols" '^f*[0-9a-f]* T _text$' symbols
hasnt "with their addresses" '^0* T _stext$' symbols

machine "$@" --out second --report two.report --kallsyms symbols2 --run "cd $work; echo to out;
	echo to err >&2; cat file; ./hello32 a b; echo \$?; mkdir /out/d; cp file /out/d; ln -s d/file /out/link
	uname -r; cat /proc/cpuinfo >/out/cpuinfo; exit 7" >two 2>err
same_files "a second run from the state prints the same" one two
same_files "and executes the same" one.report two.report
machine "$@" --run 'kill -9 $$' >out.txt 2>err
same "a signal gives 128 and its number" $? 137 || cat err
refuse "a state of another machine" 'other options: give another folder' \
	"$SOFTPMU" machine "$@" --memory 640 --run true

if [ -n "$perf" ]; then
	cd "$work" || exit 1
	count="perf stat -x, -e instructions:u,cycles:u,instructions:k,cycles:k $work/loop"
	machine "$@" --run "$count" >/dev/null 2>count1
	machine "$@" --run "$count" >/dev/null 2>count2
	same_files "perf stat counts the same again" count1 count2
	near "perf stat: instructions of the loop" "$(sed -n 's/,.*instructions:u.*//p' count1)" 3000000 8000000
	for e in cycles:u instructions:k cycles:k; do
		nonzero "perf stat counts $e" "$(sed -n "s/,.*$e.*//p" count1)"
	done
	machine "$@" --run "perf record -q -e instructions:u -c 100003 -o /tmp/data $work/loop
		perf report -i /tmp/data --stdio -q --sort symbol" >report 2>err
	has "perf record finds the loop" '\[\.\] main' report
fi

# Four processors, all of them busy: what each of them does, and when, is the same in two runs.
set -- --kernel "$kernel" --cpus 4 --state four --add "$work/loop"
run="nproc; taskset -c 3 uname -m"
if [ -n "$perf" ]; then
	set -- "$@" --add "$perf"
	run="$run; perf record -q -a -e cycles:u -c 50021 -o /tmp/data perf stat -x, -a -A -e cycles,instructions \
		sh -c 'for i in 1 2 3 4; do $work/loop & done; wait'; perf script -i /tmp/data"
fi
for n in first second; do
	machine "$@" --report "$n.report" --run "$run" >"cpus.$n" 2>"counts.$n"
done
same "four processors come up" "$(head -n 1 cpus.first)" 4
same_files "two runs of four print the same, samples and all" cpus.first cpus.second
same_files "and count the same" counts.first counts.second
same_files "and execute and time the same" first.report second.report
if [ -n "$perf" ]; then
	same "each of them is counted" "$(grep -c '^CPU[0-3],[1-9][0-9]*,,instructions' counts.first)" 4
	has "and sampled" '^ *loop .*main' cpus.first
fi
machine --kernel "$kernel" --functional --cpus 2 --run nproc >cpus.two 2>err
same "two processors come up" "$(cat cpus.two)" 2
machine --kernel "$kernel" --functional --append rdinit=/none --run true >/dev/null 2>err
same "a panic ends the machine" $? 1
has "and is its last word" 'Kernel panic' err

kernel=$TOP/build/machine/kernel/vmlinuz-686
if [ -f "$kernel" ]; then
	machine --kernel "$kernel" --core willamette --add hello32 --run "$work/hello32 x" >out.txt 2>err
	same "a 32-bit kernel runs a program" $? 3
	has "and its output comes" '^2 words, 32 bits: x$' out.txt
fi
exit $failed
