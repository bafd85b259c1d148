// SPDX-License-Identifier: BSD-2-Clause
//! Marks regions for softpmu, as softpmu/client.h does in C. Copy this file into your crate. Without softpmu a mark
//! costs a few instructions and does nothing. Needs Rust 1.59.

use std::arch::asm;

const REGION_BEGIN: usize = 0x5350_0008;
const REGION_END: usize = 0x5350_0009;

/// The words of a request: code, answer, index (here the address of the name), low, high, reserved.
fn request(code: usize, name: &str) {
    let mut text = [0u8; 64]; // ends with a zero byte, as C's texts do
    let length = name.len().min(text.len() - 1);
    text[..length].copy_from_slice(&name.as_bytes()[..length]);
    let words = [code, 0, text.as_ptr() as usize, 0, 0, 0];
    #[cfg(target_arch = "x86_64")]
    unsafe {
        asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") words.as_ptr(), inout("rdx") 0usize => _,
        );
    }
    let _ = words;
}

/// Runs the code as a part of the region.
pub fn region<T>(name: &str, code: impl FnOnce() -> T) -> T {
    request(REGION_BEGIN, name);
    let result = code();
    request(REGION_END, name);
    result
}
