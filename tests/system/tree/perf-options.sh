#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# docs/reference/perf-options.md says what softpmu answers when it is given each option of perf.
. "$TOP/tests/lib.sh"
need perf python3
case $(perf --version) in *" 6.1."*) ;; *) skip "the page is about perf 6.1, this is $(perf --version)" ;; esac
python3 "$TOP/tools/docs/perf_options.py" "$SOFTPMU" >page || failed=1
same_files "the page of perf's options says what softpmu does" "$TOP/docs/reference/perf-options.md" page
exit $failed
