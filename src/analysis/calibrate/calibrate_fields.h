/* SPDX-License-Identifier: GPL-2.0-or-later
 * Turns the results of the microbenchmarks into fields of a core's file.
 *
 * Sizes and widths are read off the host's curves.  Latencies and bandwidths are found with the model: a field is
 * changed by the difference that its microbenchmark shows, until model and host agree or a change does not help.
 * Fields that the measurements do not determine keep the base's value; the report lists them.
 */
#ifndef ANALYSIS_CALIBRATE_FIELDS_H
#define ANALYSIS_CALIBRATE_FIELDS_H
#include "analysis/calibrate/calibrate.h"
#include "core/machine/config.h"

enum cal_verdict { CAL_FITTED, CAL_AGREES, CAL_REFUSED };
struct cal_field {
	const char *key;
	enum cal_verdict verdict;
	char was[CORE_FALL_TEXT], is[CORE_FALL_TEXT];	/* as written in a core's file */
	char why[240];			/* from what it was read, or why it could not be */
};
enum { CAL_FIELDS = 48 };
struct cal_fields { struct cal_field field[CAL_FIELDS]; size_t fields; };

/* Fits sizes, widths, windows and the frequency: changes *config. first[i]: the base's cycles under the model,
 * below 0 where not run.  If model and host already agree on the width, it stays, because something else may
 * limit both. */
void cal_fit_sizes(struct core_config *config, struct cal_fields *out, const struct cal_probe *p, size_t count,
	const struct cal_native *host, const double *first);
/* Fields that the model finds by trying values come in threes:
 *   cal_X_wants  sets wanted[] to the microbenchmarks that show the field; false: the host's do not show it.
 *   cal_X_set    puts a value to try into *config (where more than one field changes).
 *   cal_X_is     puts the best value into *config and reports it; off: as cal_off gives.
 * cal_off: how far the model's cycles of the wanted microbenchmarks are from the host's: the root of the mean
 * square of the ratios' logarithms.
 *
 * scatter (memory.scattered): how many of the pages' frames are scattered over all of memory.
 * room (l3.ways and l3.size): how many of L3's ways other programs always leave free. */
bool cal_scatter_wants(const struct core_config *config, const struct cal_probe *p, size_t count,
	const struct cal_native *host, bool *wanted);
double cal_off(size_t count, const struct cal_native *host, const bool *wanted, const double *model);
void cal_scatter_is(struct core_config *config, struct cal_fields *out, const struct core_config *base, uint32_t share,
	double off);
bool cal_room_wants(const struct core_config *config, const struct cal_probe *p, size_t count,
	const struct cal_native *host, bool *wanted);
void cal_room_set(struct core_config *config, const struct core_config *base, uint32_t ways);
void cal_room_is(struct core_config *config, struct cal_fields *out, const struct core_config *base, uint32_t ways,
	double off);
/* distance (prefetch.l1d_ip_distance): how far ahead a prefetcher is that does not stop at pages; tried around
 * the value that the curves give. */
bool cal_distance_wants(const struct core_config *config, const struct cal_probe *p, size_t count,
	const struct cal_native *host, bool uneven_known, bool *wanted);
void cal_distance_is(struct core_config *config, struct cal_fields *out, const struct core_config *base,
	uint32_t distance, double off);
/* uneven: how uneven reads of memory are, in per cent of the base's dram.others_ns; the mean stays. */
bool cal_uneven_wants(const struct core_config *config, const struct cal_probe *p, size_t count,
	const struct cal_native *host, bool *wanted);
void cal_uneven_set(struct core_config *config, const struct core_config *base, uint32_t share);
void cal_uneven_is(struct core_config *config, struct cal_fields *out, const struct core_config *base, uint32_t share,
	double off);
/* Sets wanted[i] for the microbenchmarks that cal_refine needs with this config. */
void cal_refine_wants(const struct core_config *config, const struct cal_probe *p, size_t count, bool *wanted);
/* One step of refinement. model[i]: the cycles of *config, below 0 where not run.  Changes *config and returns
 * how many fields changed.  last: changes no more; instead reports for each field how near it came, and takes
 * back what did not bring its microbenchmark nearer than the base was (first[i]: the base's cycles). */
unsigned cal_refine(struct core_config *config, struct cal_fields *out, const struct core_config *base,
	const struct cal_probe *p, size_t count, const struct cal_native *host, const double *model,
	const double *first, bool last);
#endif
