// SPDX-License-Identifier: GPL-2.0-or-later
use criterion::{black_box, criterion_group, criterion_main, BatchSize, Criterion};
use sorting::{insertion_sort, shell_sort};

mod regions;
use regions::region;

fn numbers() -> Vec<u32> {
    let mut random = 1u32;
    (0..500)
        .map(|_| {
            random = random.wrapping_mul(1103515245).wrapping_add(12345);
            random >> 16
        })
        .collect()
}

fn sort(c: &mut Criterion) {
    c.bench_function("insertion_sort", |b| {
        b.iter_batched(
            numbers,
            |mut v| region("insertion_sort", || insertion_sort(black_box(&mut v))),
            BatchSize::SmallInput,
        )
    });
    c.bench_function("shell_sort", |b| {
        b.iter_batched(
            numbers,
            |mut v| region("shell_sort", || shell_sort(black_box(&mut v))),
            BatchSize::SmallInput,
        )
    });
}

criterion_group!(benches, sort);
criterion_main!(benches);
