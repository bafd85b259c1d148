/* SPDX-License-Identifier: GPL-2.0-or-later
 * RDTSCP on hosts that hide it.  VEX's CPUID always says that there is RDTSCP, but VEX translates it only where the
 * host's CPUID says so, too; some virtual machines clear that bit.  There a program that asks CPUID would get SIGILL.
 */
#include "core_private.h"
#include <libvex_guest_amd64.h>

#if defined(VGA_amd64)
void __real_amd64g_dirtyhelper_RDTSCP(VexGuestAMD64State *state);
void __wrap_amd64g_dirtyhelper_RDTSCP(VexGuestAMD64State *state);

/* Asked once: a virtual machine's CPUID may take 20 us. */
static Bool host_has_rdtscp(void)
{
	static Int known = -1;
	if (known < 0) {
		UInt a = 0x80000001, b, c, d;
		__asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
		known = d >> 27 & 1;
	}
	return known;
}

/* Called by translated code. */
void __wrap_amd64g_dirtyhelper_RDTSCP(VexGuestAMD64State *state)
{
	UInt low, high;
	if (host_has_rdtscp()) {
		__real_amd64g_dirtyhelper_RDTSCP(state);
		return;
	}
	__asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high));
	state->guest_RAX = low;
	state->guest_RDX = high;
	state->guest_RCX = 0;	/* IA32_TSC_AUX: node and processor 0 */
}
#endif

void __wrap_vgPlain_machine_get_VexArchInfo(VexArch *architecture, VexArchInfo *info)
{
	__real_vgPlain_machine_get_VexArchInfo(architecture, info);
#if defined(VGA_amd64)
	if (info)
		info->hwcaps |= VEX_HWCAPS_AMD64_RDTSCP;
#endif
}
