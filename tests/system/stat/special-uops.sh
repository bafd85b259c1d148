#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Uops that rename adds, and single-precision multiplications: so many in a loop, and none in the loop without them.
# Both runs have the same start and end of the program, so their difference is the loop's.
. "$TOP/tests/lib.sh"
loop() {	# EVENT STANZA OPTION...: the count
	event=$1 stanza=$2; shift 2
	"$SOFTPMU" stat "$@" -x, -e "$event" "$PROGRAMS/every_event" "$stanza" 2>&1 >/dev/null </dev/null | cut -d, -f1
}
added() {	# COUNT EVENT WITH WITHOUT OPTION...
	count=$1 event=$2 with=$3 without=$4; shift 4
	check "$event, $with: $count more than in $without ($*)" \
		[ $(($(loop "$event" "$with" "$@") - $(loop "$event" "$without" "$@"))) = "$count" ]
}
# CMP, INC, SETBE: SETBE reads CF of one and ZF of the other. Skylake reads both without such a uop.
# The event counts the wrong path, too, on which the loop goes round once more.
added 201 UOPS_ISSUED.FLAGS_MERGE flags fp_avx --core ivy-bridge
added 200 UOPS_ISSUED.FLAGS_MERGE flags fp_avx --core ivy-bridge --set wrong_path=0
added 200 UOPS_ISSUED.FLAGS_MERGE flags fp_avx --core skylake --set partial.flags_ports=0x23 --set wrong_path=0
check "UOPS_ISSUED.FLAGS_MERGE: none on Skylake" [ "$(loop UOPS_ISSUED.FLAGS_MERGE flags --core skylake)" = 0 ]
# ADDPS between a VADDPS of 256 bits and VZEROUPPER keeps the upper half; ADDPS behind VZEROUPPER does not.
added 200 UOPS_ISSUED.VECTOR_WIDTH_MISMATCH fp_transitions fp_sse --core skylake
check "UOPS_ISSUED.VECTOR_WIDTH_MISMATCH: none with --set assist.sse_avx=none" [ "$(loop \
	UOPS_ISSUED.VECTOR_WIDTH_MISMATCH fp_transitions --core skylake --set assist.sse_avx=none)" = 0 ]
# MULSS
added 200 UOPS_ISSUED.SINGLE_MUL fp_sse decode --core skylake
exit $failed
