# SPDX-License-Identifier: GPL-2.0-or-later
# Words, fields and matches, as much of each as asked for.
BEGIN {
	n = ARGV[1] + 0; s = 42
	for (i = 1; i <= n; i++) {
		s = (s * 16807) % 2147483647
		w = "word" (s % 100)
		count[w]++
		if (match(w, /[13579]$/)) odd += length(w); else even++
		t = w; gsub(/o/, "0", t)
		k = split("a b c d e " t, part, " ")
		x = (x * 3 + k + substr(part[6], 5)) % 1000003
	}
	print odd, even, x, count["word7"]
}
