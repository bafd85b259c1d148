/* SPDX-License-Identifier: GPL-2.0-or-later
 * Loads a library, calls into it and unloads it, several times over: its code is discarded each time. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	double sum = 0;

	for (int i = 0; i < 5; i++) {
		void *lib = dlopen("libm.so.6", RTLD_NOW);
		double (*f)(double) = lib ? (double (*)(double))dlsym(lib, "cosh") : NULL;
		if (!f)
			return 1;
		sum += f(i);
		if (dlclose(lib))
			return 1;
	}
	printf("%.3f\n", sum);
	return 0;
}
