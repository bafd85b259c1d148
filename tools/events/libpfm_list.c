/* SPDX-License-Identifier: GPL-2.0-or-later
 * Lists the events of one of libpfm4's tables, one a line, for generate_events.py:
 *
 *   EVENT  UMASK|-  IA32_PERFEVTSELx image (hex, without the enable and privilege bits)  precise 0|1  same-as|-
 *   value of a second MSR (hex)|-
 *
 * on one line, separated by tabs.  `same-as` is the event for which this is another name, as libpfm4 says.  An event
 * that libpfm4 lists and cannot encode has the image "-".  Only names and codes are used, no descriptions.
 */
#include <perfmon/pfmlib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t wanted = 0xffff | 1u << 18 | 1u << 21 | 1u << 23 | 0xff000000u;	/* E, ANY, INV, CMASK */

static int encode(const char *pmu, const char *event, const char *umask, uint64_t *image, uint64_t *extra)
{
	char text[256];
	uint64_t codes[8] = { 0 };
	uint64_t *list = codes;
	int count = 8;
	snprintf(text, sizeof text, "%s::%s%s%s", pmu, event, umask ? ":" : "", umask ? umask : "");
	int error = pfm_get_event_encoding(text, PFM_PLM3, NULL, NULL, &list, &count);
	*image = codes[0] & wanted;
	*extra = count == 2 ? codes[1] : UINT64_MAX;
	return error == PFM_SUCCESS;
}

static void line(const char *pmu, const char *event, const char *umask, int precise, const char *same)
{
	uint64_t image, extra;
	printf("%s\t%s\t", event, umask ? umask : "-");
	bool known = encode(pmu, event, umask, &image, &extra);
	if (known)
		printf("%llx", (unsigned long long)image);
	else
		putchar('-');
	printf("\t%d\t%s\t", precise, *same ? same : "-");
	if (known && extra != UINT64_MAX)
		printf("%llx\n", (unsigned long long)extra);
	else
		puts("-");
}

/* The unit masks of `info`, under the name `event`; returns how many. */
static unsigned umasks(const char *pmu, const pfm_event_info_t *info, const char *event, int alias)
{
	unsigned n = 0;
	for (int i = 0; i < info->nattrs; i++) {
		pfm_event_attr_info_t a = { .size = sizeof a };
		char same[256] = "";
		if (pfm_get_event_attr_info(info->idx, i, PFM_OS_NONE, &a) != PFM_SUCCESS || a.type != PFM_ATTR_UMASK)
			continue;
		if (alias && !encode(pmu, event, a.name, &(uint64_t){ 0 }, &(uint64_t){ 0 }))
			continue;
		if (alias)
			snprintf(same, sizeof same, "%s.%s", info->equiv ? info->equiv : info->name, a.name);
		else if (a.equiv && !strchr(a.equiv, ':'))
			snprintf(same, sizeof same, "%s.%s", event, a.equiv);
		line(pmu, event, a.name, a.is_precise, same);
		n++;
	}
	return n;
}

static void list(const pfm_pmu_info_t *pmu)
{
	for (int i = pmu->first_event; i != -1; i = pfm_get_event_next(i)) {
		pfm_event_info_t e = { .size = sizeof e };
		if (pfm_get_event_info(i, PFM_OS_NONE, &e) != PFM_SUCCESS)
			continue;
		if (umasks(pmu->name, &e, e.name, e.equiv != NULL))
			continue;
		if (e.equiv && !strchr(e.equiv, ':')) {	/* another name of a whole event: use its unit masks */
			char text[256];
			pfm_event_info_t o = { .size = sizeof o };
			snprintf(text, sizeof text, "%s::%s", pmu->name, e.equiv);
			int at = pfm_find_event(text);
			if (at >= 0 && pfm_get_event_info(at, PFM_OS_NONE, &o) == PFM_SUCCESS &&
				umasks(pmu->name, &o, e.name, 1))
				continue;
		}
		char same[256];
		snprintf(same, sizeof same, "%s", e.equiv ? e.equiv : "");
		if (strchr(same, ':'))
			*strchr(same, ':') = '.';
		line(pmu->name, e.name, NULL, e.is_precise, same);
	}
}

int main(int argc, char **argv)
{
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (argc != 2 || pfm_initialize() != PFM_SUCCESS) {
		fprintf(stderr, "usage: libpfm_list PMU\n");
		return 2;
	}
	for (pfm_pmu_t p = 0; p < PFM_PMU_MAX; p++) {
		pfm_pmu_info_t info = { .size = sizeof info };
		if (pfm_get_pmu_info(p, &info) == PFM_SUCCESS && !strcmp(info.name, argv[1])) {
			list(&info);
			pfm_terminate();
			return 0;
		}
	}
	fprintf(stderr, "libpfm_list: libpfm4 has no table %s\n", argv[1]);
	return 1;
}
