#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Does the tracer fit this system's Valgrind?  Says in one line what is missing; prints nothing if all is there.
#   tools/check-valgrind.sh [LIBRARIES [HEADERS]]      the folders of libcoregrind-*.a and of pub_tool_basics.h
# The tracer uses functions of Valgrind's core for which no headers are installed (src/valgrind/core_private.h).  Their
# declarations were compared with the sources of the versions in `tried`: a linker cannot tell that one has changed.
set -eu
private=$(dirname "$0")/../src/valgrind/core_private.h
lib=${1:-/usr/lib/x86_64-linux-gnu/valgrind} headers=${2:-/usr/include/valgrind}
tried="3.19 3.24"
say() { echo "softpmu: $*" >&2; }
[ -r "$headers/pub_tool_basics.h" ] || {
	say "Valgrind's headers are not in $headers (Debian: package valgrind; Fedora: valgrind-devel)"
	exit 1
}
version=$(sed -n 's/^#define VERSION "\([0-9.]*\).*/\1/p' "$headers/config.h" 2>/dev/null)
for arch in amd64 x86; do
	core=$lib/libcoregrind-$arch-linux.a
	[ -r "$core" ] || { say "$core is missing (Debian: package valgrind; Fedora: valgrind-devel)"; exit 1; }
	have=$(nm -g --defined-only "$core" 2>/dev/null | awk '{ print $3 }')
	{	# functions and variables that are declared, and those whose calls are redirected
		sed -n '/^[A-Za-z].*;\|^[A-Za-z].*,$/s/.*VG_(\([a-z_A-Z]*\)).*/vgPlain_\1/p' "$private"
		grep -o '__\(real\|wrap\)_vg[A-Za-z_]*' "$private" | sed 's/^__...._//'
	} | sort -u | {
		missing=
		while read -r symbol; do
			case "
$have
" in *"
$symbol
"*) ;;	*) missing="$missing $symbol" ;; esac
		done
		[ -z "$missing" ] || {
			say "the tracer does not fit Valgrind ${version:-of an unknown version}: $core has no" \
				"${missing# }; versions that fit: $tried"
			exit 1
		}
	}
done
case " $tried " in
*" ${version%.*} "*) ;;
*)	say "the tracer was tried with Valgrind $tried, not with ${version:-this one}" \
		"('tests/run.sh build tracer' tests it)" ;;
esac
