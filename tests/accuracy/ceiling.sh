#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# ceiling.sh PROGRAM DATA: how close to 1 Kendall's tau between the model and `fives` of skylake-throughput can come,
# and which rows limit it. Prints tau-b against the measured values
#   of the model;
#   of the measured values, rounded: a model of whole cycles has ties where the measurements differ by noise;
#   of the model with all wrong rows corrected, and with the wrong rows of one bottleneck corrected.
# The ratio is the median of measured over modelled cycles (the clock of the measurement is not the core's). A row is
# wrong if its own ratio differs from it by more than 1 %. A corrected row has the measured value over the ratio,
# rounded to 1/40 of a cycle (ten instances, four slots a cycle).
set -eu
cd "$(dirname "$0")/../.."
MCA=0 ROWS=1 "$1" "$2" data skylake 2>&1 >/dev/null | awk -F ';' '
function tau(y,   i, k, a, b, agree, one, other, pairs) {
	agree = one = other = 0
	for (i = 1; i <= n; i++)
		for (k = i + 1; k <= n; k++) {
			a = (x[i] > x[k]) - (x[i] < x[k])
			b = (y[i] > y[k]) - (y[i] < y[k])
			agree += a * b
			one += !a
			other += !b
		}
	pairs = n * (n - 1) / 2
	return pairs > one && pairs > other ? agree / sqrt((pairs - one) * (pairs - other)) : 0
}
function nearest(value, step) {
	return sprintf("%.4f", int(value / step + 0.5) * step) + 0 }	# as the rows are printed
function right(cause,   i) {	# corrects the wrong rows of a cause ("": of all) in made[]; returns how many
	count = 0
	for (i = 1; i <= n; i++) {
		made[i] = model[i]
		if (off[i] && (cause == "" || cause == why[i])) {
			made[i] = nearest(x[i] / ratio, 0.025)
			count++
		}
	}
	return count
}
$1 == "fives" { x[++n] = $2; model[n] = $3; why[n] = $4; seen[$4] = 1 }
END {
	if (!n) {
		print "ceiling: no rows of fives" > "/dev/stderr"
		exit 1
	}
	for (i = 1; i <= n; i++)
		sorted[i] = x[i] / model[i]
	for (i = 2; i <= n; i++) {	# insertion: 2,000 rows
		value = sorted[i]
		for (k = i - 1; k >= 1 && sorted[k] > value; k--)
			sorted[k + 1] = sorted[k]
		sorted[k + 1] = value
	}
	ratio = sorted[int((n + 1) / 2)]
	for (i = 1; i <= n; i++) {
		off[i] = x[i] / model[i] / ratio > 1.01 || x[i] / model[i] / ratio < 0.99
		twentieth[i] = nearest(x[i], 0.05)
		fortieth[i] = nearest(x[i] / ratio, 0.025)
	}
	printf "%.4f  the model, %d rows; measured over model is %.4f in the middle\n", tau(model), n, ratio
	printf "%.4f  measured, rounded to 0.05 cycles\n%.4f  measured over that ratio, rounded to 0.025\n",
		tau(twentieth), tau(fortieth)
	count = right("")
	printf "%.4f  the model, with the %d rows right that are off\n", tau(made), count
	for (cause in seen)
		if ((count = right(cause)))
			printf "%.4f  the model, with %d of them right: %s\n", tau(made), count, cause | "sort -rn"
}'
