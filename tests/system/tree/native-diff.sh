#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# tools/native-diff joins a native profile and the model's by place: functions, copies of functions, code without names.
. "$TOP/tests/lib.sh"
need jq
cat >native.json <<'END'
{"events": [{"event": "cpu-clock:u", "entries": [
 {"comm": "p", "dso": "p", "symbol": "walk", "samples": 60},
 {"comm": "p", "dso": "p", "symbol": "fill", "samples": 20},
 {"comm": "p", "dso": "lib.so", "symbol": "0x1234", "samples": 9},
 {"comm": "p", "dso": "lib.so", "symbol": "0x12f0", "samples": 10},
 {"comm": "p", "dso": "lib.so", "symbol": "rare", "samples": 1}]}]}
END
cat >model.json <<'END'
{"cycles": 900000, "entries": [
 {"dso": "p", "symbol": "walk.constprop.0", "address": 4096, "cycles": 200000, "instructions": 100000,
  "causes": {"retiring": 50000, "l2": 150000}},
 {"dso": "p", "symbol": "walk.constprop.0", "address": 4100, "cycles": 100000, "instructions": 100000,
  "causes": {"retiring": 40000, "l2": 60000}},
 {"dso": "p", "symbol": "fill", "address": 8192, "cycles": 490000, "instructions": 980000, "causes": {"retiring": 490000}},
 {"dso": "lib.so", "symbol": "", "address": 4660, "cycles": 99000, "instructions": 99000, "causes": {"retiring": 99000}},
 {"dso": "lib.so", "symbol": "", "address": 4864, "cycles": 1000, "instructions": 1000, "causes": {"retiring": 1000}}]}
END
"$TOP/tools/native-diff" --join native.json model.json 1000000 0.5 >out 2>&1
cat >expected <<'END'
    native      model     excess    ratio    place, and what the model waits for
    1.00 M     0.90 M    -0.10 M     0.90   total
    0.60 M     0.30 M    -0.30 M     0.50   walk [p]  CPI 1.5: l2 70 %, retiring 30 %
    0.20 M     0.49 M    +0.29 M     2.45   fill [p]  CPI 0.5: retiring 100 %
    0.19 M     0.10 M    -0.09 M     0.52   lib.so+4608  CPI 1: retiring 100 %
    0.01 M     0.00 M    -0.01 M     0.00 ? rare [lib.so]
END
same_files "places, by how far they are off; small ones are left out, and uncertain ones marked" expected out
refuse "a core that does not exist" "core" "$TOP/tools/native-diff" -c nothere -- /bin/true
refuse "no program" "which program" "$TOP/tools/native-diff" -c golden-cove
exit $failed
