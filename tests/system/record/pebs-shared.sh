#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The PEBS buffer that two threads on one processor share: drained at the switch it is as good as one each;
# mixed, the addresses remain, and samples of one thread are taken for the other's, as many as record says.
. "$TOP/tests/lib.sh"
export HOME="$work" PERF_CONFIG=/dev/null LC_ALL=C
need perf
# of its two threads one chases pointers, the other adds
"$SOFTPMU" trace -o stream "$PROGRAMS/sharing" mixed 60000 2 >/dev/null 2>err || { cat err; exit 1; }
for core in core2 skylake golden-cove; do
	event=BR_INST_RETIRED.ALL_BRANCHES:pp
	[ $core = core2 ] && event=INST_RETIRED.ANY_P:p
	for mode in own drain mixed; do
		shared="--pebs-shared $mode"; [ $mode = own ] && shared=
		# shellcheck disable=SC2086
		"$SOFTPMU" record --core $core --cpus 1 --quantum 5us -e $event -c 101 --pebs-records 16 $shared \
			-o data --replay stream 2>err || { cat err; failed=1; }
		perf script --ns -i data -F tid,time,ip 2>/dev/null | awk '{ print $2, $3, $1 }' | sort >$mode
	done
	check "$core: drained, every sample is as with buffers of their own" cmp -s own drain
	cut -d' ' -f1,2 own >a; cut -d' ' -f1,2 mixed >b
	check "$core: mixed, the places and times are the same" cmp -s a b
	said=$(sed -n 's/.*: \([0-9]*\) of [0-9]* samples were taken for those of another thread.*/\1/p' err)
	check "$core: but some are the other thread's" [ "${said:-0}" -gt 0 ]
	comm -23 own mixed >moved
	check "$core: as many as record says ($said of $(wc -l <mixed))" [ "$(wc -l <moved)" = "$said" ]
done
# threads that move between processors
"$SOFTPMU" trace -o stream "$PROGRAMS/sharing" mixed 40000 4 >/dev/null 2>err || { cat err; exit 1; }
for mode in own drain mixed; do
	shared="--pebs-shared $mode"; [ $mode = own ] && shared=
	# shellcheck disable=SC2086
	"$SOFTPMU" record --core skylake --cpus 2 --quantum 5us -e BR_INST_RETIRED.ALL_BRANCHES:pp -c 101 \
		--pebs-records 16 $shared -o data --replay stream 2>err || { cat err; failed=1; }
	perf script --ns -i data -F tid,time,ip 2>/dev/null | awk '{ print $2, $3, $1 }' | sort >$mode
done
check "four threads on two processors: drained, every sample is as with buffers of their own" cmp -s own drain
check "mixed, as many as record says are the others'" [ "$(comm -23 own mixed |
	wc -l)" = "$(sed -n 's/.*: \([0-9]*\) of [0-9]* samples were taken for those.*/\1/p' err)" ]
refuse_record() {	# PATTERN OPTION...
	pattern=$1; shift
	refuse "record $*" "$pattern" "$SOFTPMU" record -q -o no.data "$@" true
	check "no file is made" [ ! -e no.data ]
}
refuse_record 'needs --cpus' --core skylake -e cycles:pp --pebs-shared mixed
refuse_record 'no event is precise' --core skylake -e cycles --pebs-shared mixed --cpus 1
refuse_record 'is not drain or mixed' --core skylake -e cycles:pp --pebs-shared shaken --cpus 1
exit $failed
