// SPDX-License-Identifier: GPL-2.0-or-later
// An index of words in a B-tree, for tests/accuracy/held-out.sh: index N FILE reads the file's first 15 N bytes.
use std::collections::BTreeMap;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n: usize = args[1].parse().unwrap();
    let bytes = std::fs::read(&args[2]).unwrap();
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(15 * n)]);
    let mut index: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        for word in line.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
            index.entry(word.to_lowercase()).or_default().push(number);
        }
    }
    let mut most: Vec<(usize, &String)> = index.iter().map(|(w, lines)| (lines.len(), w)).collect();
    most.sort();
    println!("{} {:?}", index.len(), &most[most.len() - 3..]);
}
