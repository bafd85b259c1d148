/* SPDX-License-Identifier: GPL-2.0-or-later
 * Describes an event for a perf.data file: by perf's generic number where it has one, so that tools which look for
 * "cycles" find it. */
#ifndef CLI_RECORD_EVENT_H
#define CLI_RECORD_EVENT_H
#include "output/perfdata/perfdata.h"
#include "session/session.h"

void record_describe(const struct session_event *e, struct perfdata_event *out);
#endif
