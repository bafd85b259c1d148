/* SPDX-License-Identifier: GPL-2.0-or-later
 * The library liborder of words.c: sorts by Shell's method. */
void order(unsigned *v, int n)
{
	for (int gap = n / 2; gap > 0; gap /= 2)
		for (int i = gap; i < n; i++) {
			unsigned x = v[i];
			int k = i;
			for (; k >= gap && v[k - gap] > x; k -= gap)
				v[k] = v[k - gap];
			v[k] = x;
		}
}
