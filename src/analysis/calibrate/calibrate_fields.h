/* SPDX-License-Identifier: GPL-2.0-or-later
 * From what the microbenchmarks show to the fields of a core's file.
 *
 * Sizes and widths are read off the host's curves.  Latencies and bandwidths are found by the model: a field is changed by what its
 * microbenchmark differs, until model and host agree or a change does not help.  A field that the curves do not show stays as in the base.
 */
#ifndef ANALYSIS_CALIBRATE_FIELDS_H
#define ANALYSIS_CALIBRATE_FIELDS_H
#include "analysis/calibrate/calibrate.h"
#include "core/machine/config.h"

enum cal_verdict { CAL_FITTED, CAL_AGREES, CAL_REFUSED };
struct cal_field {
	const char *key;
	enum cal_verdict verdict;
	char was[CORE_FALL_TEXT], is[CORE_FALL_TEXT];	/* as in a core's file */
	char why[240];			/* what it was read from, or why not */
};
enum { CAL_FIELDS = 48 };
struct cal_fields { struct cal_field field[CAL_FIELDS]; size_t fields; };

/* Sizes, widths, windows, frequency: changes *config. first[i]: the base's cycles under the model, below 0 where not run; a width with which the model
 * does as the host does stays, whatever else may limit both. */
void cal_fit_sizes(struct core_config *config, struct cal_fields *out, const struct cal_probe *p, size_t count, const struct cal_native *host, const double *first);
/* What the model finds by trying values: of pages' frames how many are all over memory (memory.scattered), and how many of L3's ways others leave all the time
 * (l3.ways and l3.size).  Which microbenchmarks show it: sets all wanted[]; false: the host's do not.  How far the model's cycles of those are from the host's:
 * the root of the mean square of the ratios' logarithms.  And what it is. */
bool cal_scatter_wants(const struct core_config *config, const struct cal_probe *p, size_t count, const struct cal_native *host, bool *wanted);
double cal_off(size_t count, const struct cal_native *host, const bool *wanted, const double *model);
void cal_scatter_is(struct core_config *config, struct cal_fields *out, const struct core_config *base, uint32_t share, double off);
bool cal_room_wants(const struct core_config *config, const struct cal_probe *p, size_t count, const struct cal_native *host, bool *wanted);
void cal_room_set(struct core_config *config, const struct core_config *base, uint32_t ways);
void cal_room_is(struct core_config *config, struct cal_fields *out, const struct core_config *base, uint32_t ways, double off);
/* And how far ahead a prefetcher is that pages do not stop (prefetch.l1d_ip_distance), about where the curves have it. */
bool cal_distance_wants(const struct core_config *config, const struct cal_probe *p, size_t count, const struct cal_native *host, bool uneven_known, bool *wanted);
void cal_distance_is(struct core_config *config, struct cal_fields *out, const struct core_config *base, uint32_t distance, double off);
/* How uneven reads of memory are, in per cent of the base's dram.others_ns; the mean stays. */
bool cal_uneven_wants(const struct core_config *config, const struct cal_probe *p, size_t count, const struct cal_native *host, bool *wanted);
void cal_uneven_set(struct core_config *config, const struct core_config *base, uint32_t share);
void cal_uneven_is(struct core_config *config, struct cal_fields *out, const struct core_config *base, uint32_t share, double off);
/* Which microbenchmarks cal_refine looks at with this config: sets wanted[i]. */
void cal_refine_wants(const struct core_config *config, const struct cal_probe *p, size_t count, bool *wanted);
/* One step: model[i] are the cycles of *config, below 0 where not run.  Changes *config; the number of fields changed. last: say of each
 * field how near it came, and take back what did not bring its microbenchmark nearer than the base was (first[i]: the base's cycles). */
unsigned cal_refine(struct core_config *config, struct cal_fields *out, const struct core_config *base, const struct cal_probe *p, size_t count,
	const struct cal_native *host, const double *model, const double *first, bool last);
#endif
