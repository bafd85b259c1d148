// SPDX-License-Identifier: GPL-2.0-or-later
//! What the benchmarks measure.

#[inline(never)]
pub fn insertion_sort(values: &mut [u32]) {
    for i in 1..values.len() {
        let mut k = i;
        while k > 0 && values[k - 1] > values[k] {
            values.swap(k - 1, k);
            k -= 1;
        }
    }
}

#[inline(never)]
pub fn shell_sort(values: &mut [u32]) {
    let mut gap = values.len() / 2;
    while gap > 0 {
        for i in gap..values.len() {
            let mut k = i;
            while k >= gap && values[k - gap] > values[k] {
                values.swap(k - gap, k);
                k -= gap;
            }
        }
        gap /= 2;
    }
}
