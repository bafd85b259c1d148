#include <softpmu/client.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4096 };
static unsigned char data[N];
static volatile int found;

static int order(const void *a, const void *b)
{
	return *(const unsigned char *)a - *(const unsigned char *)b;
}

static void large(void)
{
	for (int i = 0; i < N; i++)
		if (data[i] > 127)
			found++;
}

int main(void)
{
	uint64_t missed = 0;
	for (int i = 0; i < N; i++)
		data[i] = rand() >> 8;
	SOFTPMU_REGION_BEGIN("unsorted");
	large();
	SOFTPMU_REGION_END("unsorted");
	qsort(data, N, 1, order);
	SOFTPMU_REGION_BEGIN("sorted");
	large();
	SOFTPMU_REGION_END("sorted");

	spmu_client_wrmsr(0x186, 0x4100c5);	/* IA32_PERFEVTSEL0: BR_MISP_RETIRED, user mode, enabled */
	spmu_client_wrmsr(0x38f, 1);		/* IA32_PERF_GLOBAL_CTRL: from here ... */
	large();
	spmu_client_wrmsr(0x38f, 0);		/* ... to here */
	if (spmu_client_rdpmc(0, &missed) == SPMU_CLIENT_OK)
		printf("mispredicted: %lu\n", (unsigned long)missed);
	else
		puts("not under softpmu");
	return 0;
}
