// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

//! Counts the words of a text on Tenure's process heap.

use std::collections::HashMap;

#[global_allocator]
static GLOBAL: tenure::Tenure = tenure::Tenure;

fn main() {
    let text = "temp for a function, temp_job for a few frames, persistent for as long as it takes";
    let mut counts: HashMap<String, usize> = HashMap::new();
    for word in text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty()) {
        *counts.entry(word.to_string()).or_default() += 1;
    }
    let mut most: Vec<_> = counts.into_iter().collect();
    most.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    println!("{} times {:?}; on Tenure: {}", most[0].1, most[0].0, tenure::owns(most.as_ptr()));
}
