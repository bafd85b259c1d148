#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A count never depends on which other events are asked for: an event alone counts what it counts in a long list, which
# makes batches end at other places.
. "$TOP/tests/lib.sh"
export LC_ALL=C
"$SOFTPMU" stat -x, --core prescott -e cycles --save-stream some \
	sort "$TOP/data/events/golden-cove.tsv" >/dev/null 2>&1 || bad "saving a stream"
counts() { "$SOFTPMU" stat -x, --core "$1" --replay some -e "$2" 2>&1 | awk -F, '{ print $3, $1 }'; }

# alone CORE TABLE EVENTS: these, against their counts beside all of the table that need no word, no other
# stream and no L3
alone() {
	list=$(awk -F'\t' '/^[^#@]/ && $NF == "-" { print $1 }' "$TOP/data/events/$2.tsv" | grep -Ev \
		'^(execution_event|replay_event.N?BOGUS|front_end_event|uop_type|instr_retired.*N?BOGUSTAG)' |
		grep -Evi 'assist|RD_3rdL' | paste -sd,)
	counts "$1" "$list" >list
	for event in $3; do
		counts "$1" "$event"
	done >alone
	sed 's/:u .*//' alone | while read -r event; do grep -m 1 "^$event:u " list; done >same
	same_files "$1: events count alone what they count in a list of $(wc -l <list)" alone same
}
alone prescott netburst "TC_deliver_mode.DI TC_deliver_mode.BI global_power_events.RUNNING BPU_fetch_request.TCMISS
	uop_queue_writes.FROM_TC_BUILD resource_stall.SBFULL machine_clear.CLEAR FSB_data_activity.DRDY_DRV"
alone skylake skylake "IDQ.MS_SWITCHES RESOURCE_STALLS.ANY CYCLE_ACTIVITY.STALLS_TOTAL ICACHE_64B.IFTAG_STALL"
alone golden-cove golden-cove "DECODE.MS_BUSY INT_MISC.CLEAR_RESTEER_CYCLES RESOURCE_STALLS.SB TOPDOWN.SLOTS"
exit $failed
