#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Writes a C program that resembles large ones: it runs through many functions but executes little of each. A
# compiler without a profile expects the other side of each condition, so the executed path is full of taken
# branches, and its lines spread over more than a first-level instruction cache. A profile tells AutoFDO and BOLT
# which side of each condition runs.
#
#   branchy ROUNDS [time]      time: also prints the CPU seconds used, on a line of their own
FUNCTIONS=${1:-240}
awk -v n="$FUNCTIONS" 'BEGIN {
	print "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n"
	print "struct state {\n\tuint32_t mode[4], sum[4], scratch[64];\n};\n"
	for (i = 0; i < n; i++) {
		printf "static __attribute__((noinline)) void f%d(struct state *s)\n{\n", i
		for (k = 0; k < 4; k++) {
			a = (i * 29 + k * 7) % 64
			printf "\tif (s->mode[%d] == %d) {\n\t\ts->sum[%d] += %d;\n\t} else {\n", k, 7 + k, k, i * 4 + k
			print "\t\tfor (unsigned i = 0; i < 64; i++)"
			printf "\t\t\ts->scratch[i] = s->scratch[(i + %d) & 63] * 2654435761u + " \
				"s->scratch[(i * 7 + %d) & 63];\n",
				a, a
			printf "\t\ts->scratch[%d] ^= s->sum[%d];\n\t\ts->scratch[%d] += s->sum[%d] >> 3;\n" \
				"\t\ts->scratch[%d] -= s->sum[%d] << 5;\n", a, k, (a + 3) % 64, k, (a + 5) % 64, k
			printf "\t\ts->scratch[%d] ^= s->scratch[%d] / (s->scratch[%d] | 1);\n", (a + 9) % 64,
				(a + 3) % 64, (a + 5) % 64
			printf "\t\ts->sum[%d] = s->sum[%d] * 31 + s->scratch[%d] %% 1021;\n\t}\n", k, k, (a + 11) % 64
		}
		print "}\n"
	}
	print "static __attribute__((noinline)) void way(struct state *s)\n{"
	for (i = 0; i < n; i++)
		printf "\tf%d(s);\n", (i * 77) % n
	print "}\n\nint main(int argc, char **argv)\n{\n\tstatic struct state s;"
	print "\tunsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;"
	print "\tfor (unsigned k = 0; k < 4; k++)\n\t\ts.mode[k] = 7 + k + (argc > 3);\t/* the compiler cannot know */"
	print "\tfor (unsigned long i = 0; i < rounds; i++)\n\t\tway(&s);"
	print "\tprintf(\"%u %u %u %u\\n\", s.sum[0], s.sum[1], s.sum[2], s.sum[3]);"
	print "\tif (argc > 2) {\n\t\tstruct timespec t;\n\t\tclock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);"
	print "\t\tprintf(\"%.6f\\n\", (double)t.tv_sec + 1e-9 * (double)t.tv_nsec);\n\t}\n\treturn 0;\n}"
}'
