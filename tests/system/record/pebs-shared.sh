#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two threads on one processor share a PEBS buffer (--pebs-shared). With "drain" the buffer is emptied at each thread
# switch, and the samples are the same as with a buffer per thread. With "mixed" the addresses are the same, but some
# samples are attributed to the other thread; record says how many.
. "$TOP/tests/lib.sh"
export HOME="$work" PERF_CONFIG=/dev/null LC_ALL=C
need perf
# One of the two threads chases pointers, the other adds.
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
	check "$core: drain: the samples are the same as with a buffer per thread" cmp -s own drain
	cut -d' ' -f1,2 own >a; cut -d' ' -f1,2 mixed >b
	check "$core: mixed: addresses and times of the samples are the same" cmp -s a b
	said=$(sed -n 's/.*: \([0-9]*\) of [0-9]* samples were taken for those of another thread.*/\1/p' err)
	check "$core: mixed: record reports samples attributed to the other thread" [ "${said:-0}" -gt 0 ]
	comm -23 own mixed >moved
	check "$core: mixed: as many samples changed threads as record says ($said of $(wc -l <mixed))" \
		[ "$(wc -l <moved)" = "$said" ]
done
# Threads that move between processors.
"$SOFTPMU" trace -o stream "$PROGRAMS/sharing" mixed 40000 4 >/dev/null 2>err || { cat err; exit 1; }
for mode in own drain mixed; do
	shared="--pebs-shared $mode"; [ $mode = own ] && shared=
	# shellcheck disable=SC2086
	"$SOFTPMU" record --core skylake --cpus 2 --quantum 5us -e BR_INST_RETIRED.ALL_BRANCHES:pp -c 101 \
		--pebs-records 16 $shared -o data --replay stream 2>err || { cat err; failed=1; }
	perf script --ns -i data -F tid,time,ip 2>/dev/null | awk '{ print $2, $3, $1 }' | sort >$mode
done
check "four threads on two processors: drain: the same samples as with a buffer per thread" cmp -s own drain
check "four threads on two processors: mixed: as many samples changed threads as record says" [ "$(comm -23 own mixed |
	wc -l)" = "$(sed -n 's/.*: \([0-9]*\) of [0-9]* samples were taken for those.*/\1/p' err)" ]
refuse_record() {	# PATTERN OPTION...
	pattern=$1; shift
	refuse "record $*" "$pattern" "$SOFTPMU" record -q -o no.data "$@" true
	check "a refused command makes no file" [ ! -e no.data ]
}
refuse_record 'needs --cpus' --core skylake -e cycles:pp --pebs-shared mixed
refuse_record 'no event is precise' --core skylake -e cycles --pebs-shared mixed --cpus 1
refuse_record 'is not drain or mixed' --core skylake -e cycles:pp --pebs-shared shaken --cpus 1
exit $failed
