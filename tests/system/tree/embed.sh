#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The installed library can be embedded: the example, built with pkg-config against an installation by two compilers,
# counts and samples correctly. The headers are also valid C++. Only the PMU is linked from the library, and it needs
# only the C library.
. "$TOP/tests/lib.sh"
command -v pkg-config >/dev/null 2>&1 || skip "pkg-config is not installed"
case $SOFTPMU in */build/san/*) echo "the installation has no sanitizers"; exit 77 ;; esac
unset MAKEFLAGS MAKELEVEL MFLAGS
prefix="$work/a prefix"
make -C "$TOP" --no-print-directory install PREFIX="$prefix" >"$work/log" 2>&1 ||
	{ tail -n 20 "$work/log"; echo "FAILED make install"; exit 1; }
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
same "pkg-config gives the version of softpmu" "softpmu $(pkg-config --modversion softpmu)" "$("$SOFTPMU" --version)"
same "all headers are installed" "$(cd "$prefix/include/softpmu" && ls)" "$(cd "$TOP/include/softpmu" && ls)"
same "the man page of the library is installed" "$(ls "$prefix/share/man/man3")" softpmu-pmu.3
events=$(pkg-config --variable=eventsdir softpmu)
same "all event tables are installed" "$(cd "$events" && ls)" "$(cd "$TOP/data/events" && ls -- *.tsv)"
same "the installed command works" "$("$prefix/bin/softpmu" msr --pmu p5 -j | grep -c CESR)" 1
cp "$TOP/examples/embed/emulator.c" . || exit 1
built=0
for cc in gcc clang; do
	command -v $cc >/dev/null 2>&1 || continue
	libs=$(pkg-config --libs softpmu)	# the static library, and with the other compiler the shared one
	if [ $cc = gcc ]; then libs="-Wl,-Bstatic $libs -Wl,-Bdynamic"; else libs="$libs '-Wl,-rpath,$prefix/lib'"; fi
	eval "$cc -std=c11 -Wall -Wextra -Werror -O2 emulator.c $(pkg-config --cflags softpmu) $libs \
		-Wl,-Map=map-$cc -o emulator-$cc" || { failed=1; continue; }
	built=$((built + 1))
	"./emulator-$cc" "$events/skylake.tsv" >"out-$cc" 2>&1
	same "$cc: counts are exact" "$(head -n 1 "out-$cc")" "820402 instructions, 1303021 cycles"
	same "$cc: there is a sample for each period of the count" "$(sed -n 2p "out-$cc")" \
		"1291 samples, one every 1009 cycles"
	same "$cc: most samples are at the load that misses" "$(sed -n 3p "out-$cc" | tr -s ' ')" " 52.4% 1014 load"
	"./emulator-$cc" "$events/golden-cove.tsv" MEM_LOAD_RETIRED.L1_MISS >"out-$cc" 2>&1
	same "$cc: with golden-cove and an event of L1 misses, the samples are behind the load" \
		"$(sed -n '2p;$p' "out-$cc" | tr -s ' \n' ' ')" \
		"25 samples, one every 1009 MEM_LOAD_RETIRED.L1_MISS 100.0% 1018 add "
done
[ $built -gt 0 ] || bad "no compiler"
same "a PMU without the event is refused in one line" \
	"$(./emulator-gcc "$events/p5.tsv" 2>&1 | grep -c "no event cycles on counter 0")" 1
same "a file that is no event table is refused in one line" "$(./emulator-gcc /dev/null 2>&1 | grep -c "^emulator: ")" 1

# The how-to page shows this output, and every function of the header is in the library.
shown=$(./emulator-gcc "$events/skylake.tsv" | while read -r line; do grep -qF "    $line" "$TOP/docs/howto/embed.md" ||
	grep -qF "  $line" "$TOP/docs/howto/embed.md" || echo "$line"; done)
same "docs/howto/embed.md shows the output of the example" "$shown" ""
nm --defined-only "$prefix/lib/libsoftpmu.a" 2>/dev/null | sed -n 's/.* T //p' | sort -u >symbols
missing=$(sed 's|/\*.*||' "$TOP/include/softpmu/pmu.h" | grep -oE '\bspmu_[a-z0-9_]+\(' | tr -d '(' | sort -u |
	comm -23 - symbols)
same "every function of pmu.h is in the library" "$missing" ""
undocumented=$(sed -n 's/^\.F[nt] *"*\([a-z ]*\**" *\)*\(spmu_[a-z0-9_]*\).*/\2/p' "$TOP/docs/softpmu-pmu.3" | sort -u |
	comm -23 - symbols)
same "every function of the manual page is in the library" "$undocumented" ""

so=$prefix/lib/libsoftpmu.so
same "the shared library has a soname" "$(readelf -d "$so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')" libsoftpmu.so.0
nm -D --defined-only "$so" | sed -n 's/.* T //p' >versioned
same "its functions have a version" "$(grep -vc '@@SOFTPMU_0\.1$' versioned)" 0
sed 's/@@.*//' versioned | sort -u >exported
same "it has every function of pmu.h and uncore.h" "$(sed 's|/\*.*||' "$TOP/include/softpmu/pmu.h" \
	"$TOP/include/softpmu/uncore.h" | grep -oE '\bspmu_[a-z0-9_]+\(' | tr -d '(' | sort -u |
	comm -23 - exported)" ""
same "and needs only the C library" "$(readelf -d "$so" | grep '(NEEDED)' | grep -vc 'libc\.so')" 0

# The link map names members of src/pmu only, and the program needs no other library than the C library.
drawn=$(sed -n 's/.*libsoftpmu\.a(\([a-z0-9_]*\)\.o).*/\1/p' map-gcc | sort -u)
other=$(for o in $drawn; do ls "$TOP/src/pmu/$o.c" "$TOP"/src/pmu/*/"$o.c" 2>/dev/null | grep -q . || echo "$o"; done)
same "only the PMU is linked from the library" "$(echo "$drawn" | grep -cx pmu) $other" "1 "
same "the program needs only the C library" "$(readelf -d emulator-gcc | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
	grep -v '^libc\.so')" ""

for header in pmu record; do
	if command -v g++ >/dev/null 2>&1; then
		echo "#include <softpmu/$header.h>" >"$header.cc"
		for std in c++11 c++20; do
			same "$header.h is valid $std" \
				"$(eval "g++ -std=$std -Wall -Wextra -Werror -fsyntax-only $(pkg-config \
				--cflags softpmu) $header.cc" 2>&1)" ""
		done
	fi
done
if command -v g++ >/dev/null 2>&1; then	# C linkage works
	cat >link.cc <<-'C'
	#include <softpmu/pmu.h>
	int main(int, char **argv)
	{
		spmu_model *m = nullptr;
		char text[200];
		if (spmu_model_load(&m, argv[1], text, sizeof text) != SPMU_OK)
			return 1;
		spmu_model_free(m);
		return 0;
	}
	C
	flags=$(pkg-config --cflags --libs softpmu)
	eval "g++ -Wall -Wextra -Werror link.cc $flags '-Wl,-rpath,$prefix/lib' -o link" && ./link "$events/p6.tsv"
	same "a C++ program links and runs" $? 0
fi
exit $failed
