#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# No script of the tree has a fault that shellcheck finds; .shellcheckrc says which checks are disabled, and why.
. "$TOP/tests/lib.sh"
need shellcheck git
cd "$TOP" || exit 1
scripts=$(git ls-files '*.sh' .ci/run) && [ -n "$scripts" ] || skip "this is not a git checkout"
# shellcheck disable=SC2086	# no script has a blank in its name
shellcheck -f gcc $scripts >"$work/found" 2>&1
status=$?
if [ $status = 0 ]; then ok "shellcheck finds nothing in $(echo "$scripts" | wc -l) scripts"
else bad "shellcheck" "$work/found"; fi

# shellcheck disable=SC2016	# the fault is not to be expanded here
printf '#!/bin/sh\nrm -r $1/files\n' >"$work/fault.sh"
shellcheck -f gcc "$work/fault.sh" >"$work/found"
has "an unquoted path is found" SC2086 "$work/found"
exit $failed
