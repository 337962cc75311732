// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

//! Every test runs on the global allocator, in threads of the test runner.

use std::alloc::{alloc, alloc_zeroed, dealloc, realloc, GlobalAlloc, Layout};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc;
use std::thread;

#[global_allocator]
static GLOBAL: tenure::Tenure = tenure::Tenure;

const SIZES: [usize; 10] = [1, 7, 8, 9, 100, 1000, 4096, 40_000, 300_000, 5_000_000];

fn alignments() -> impl Iterator<Item = usize> {
    (0..=16).map(|power| 1 << power)
}

/// The places that are written and read: all of a small block, some of a larger one, and its last byte.
fn places(bytes: usize) -> impl Iterator<Item = usize> {
    (0..bytes).step_by(if bytes <= 1000 { 1 } else { 509 }).chain(std::iter::once(bytes - 1))
}

fn fill(block: *mut u8, bytes: usize, seed: u8) {
    places(bytes).for_each(|at| unsafe { block.add(at).write(seed.wrapping_add(at as u8)) });
}

fn is_filled(block: *const u8, bytes: usize, seed: u8) -> bool {
    places(bytes).all(|at| unsafe { block.add(at).read() } == seed.wrapping_add(at as u8))
}

#[test]
fn the_library_has_the_interface_of_this_crate() {
    assert!(tenure::is_compatible());
}

#[test]
fn the_memory_of_the_program_is_tenures() {
    let numbers = vec![7u64; 1000];
    let text = String::from("on the heap");
    let local = 7u64;
    assert!(tenure::owns(numbers.as_ptr()) && tenure::owns(text.as_ptr()));
    assert!(!tenure::owns(&local) && !tenure::owns(std::ptr::null::<u8>()));
}

#[test]
fn blocks_of_every_size_and_alignment_are_aligned_apart_and_as_large_as_asked() {
    for alignment in alignments() {
        let blocks: Vec<(*mut u8, Layout)> = SIZES
            .iter()
            .map(|&bytes| {
                let layout = Layout::from_size_align(bytes, alignment).unwrap();
                let block = unsafe { alloc(layout) };
                assert!(!block.is_null() && block as usize % alignment == 0, "{bytes} at {alignment}");
                assert!(unsafe { tenure::usable_size(block) } >= bytes);
                fill(block, bytes, bytes as u8);
                (block, layout)
            })
            .collect();
        for (block, layout) in blocks {
            assert!(is_filled(block, layout.size(), layout.size() as u8), "{layout:?} was overwritten");
            unsafe { dealloc(block, layout) };
        }
    }
}

#[test]
fn zeroed_memory_is_zero_although_the_block_was_used_before() {
    for alignment in alignments() {
        for bytes in SIZES {
            let layout = Layout::from_size_align(bytes, alignment).unwrap();
            for _ in 0..2 {
                let block = unsafe { alloc_zeroed(layout) };
                assert!(!block.is_null() && block as usize % alignment == 0);
                assert!(places(bytes).all(|at| unsafe { block.add(at).read() } == 0), "{layout:?}");
                unsafe {
                    block.write_bytes(0xA5, bytes);
                    dealloc(block, layout);
                }
            }
        }
    }
}

#[test]
fn a_resized_block_keeps_its_contents_and_its_alignment() {
    for alignment in alignments() {
        let mut layout = Layout::from_size_align(SIZES[0], alignment).unwrap();
        let mut block = unsafe { alloc(layout) };
        fill(block, layout.size(), 3);
        let ups_and_downs = SIZES.iter().chain(SIZES.iter().rev());
        for &bytes in ups_and_downs {
            block = unsafe { realloc(block, layout, bytes) };
            assert!(!block.is_null() && block as usize % alignment == 0);
            let common = bytes.min(layout.size());
            assert!(places(layout.size()).filter(|&at| at < common).all(|at| unsafe { block.add(at).read() } == 3u8.wrapping_add(at as u8)));
            fill(block, bytes, 3);
            layout = Layout::from_size_align(bytes, alignment).unwrap();
        }
        unsafe { dealloc(block, layout) };
    }
}

#[test]
fn a_request_past_the_memory_is_refused_and_changes_nothing() {
    let most = isize::MAX as usize - 4096;
    let small = Layout::from_size_align(100, 8).unwrap();
    for alignment in [8, 4096] {
        let layout = Layout::from_size_align(most, alignment).unwrap();
        unsafe {
            assert!(tenure::Tenure.alloc(layout).is_null());
            assert!(tenure::Tenure.alloc_zeroed(layout).is_null());
        }
    }
    unsafe {
        let block = alloc(small);
        fill(block, 100, 9);
        assert!(tenure::Tenure.realloc(block, small, most).is_null());
        assert!(is_filled(block, 100, 9));
        dealloc(block, small);
    }
    let mut numbers: Vec<u8> = Vec::new();
    assert!(numbers.try_reserve_exact(most).is_err());
}

#[test]
fn threads_free_what_others_have_allocated() {
    let (send, receive) = mpsc::channel::<HashMap<u32, Vec<u8>>>();
    let makers: Vec<_> = (0..4u32)
        .map(|maker| {
            let send = send.clone();
            thread::spawn(move || {
                for round in 0..200u32 {
                    let made = (0..50).map(|each| (each, vec![maker as u8; (round * 7 + each) as usize % 2000])).collect();
                    send.send(made).unwrap();
                }
            })
        })
        .collect();
    drop(send);
    let mut count = 0;
    for made in receive {
        assert!(made.iter().all(|(_, bytes)| bytes.iter().all(|&byte| byte == bytes[0])));
        count += made.len();
    }
    makers.into_iter().for_each(|maker| maker.join().unwrap());
    assert_eq!(count, 4 * 200 * 50);
}

/// Allocates and frees in the destructor of a thread-local, when the thread's cache may be gone.
struct LastWords(RefCell<BTreeMap<u32, String>>);

impl Drop for LastWords {
    fn drop(&mut self) {
        let words: Vec<String> = self.0.borrow().values().map(|word| word.repeat(3)).collect();
        assert_eq!(words.concat().len(), 3 * 11 * self.0.borrow().len());
    }
}

thread_local! {
    static LAST_WORDS: LastWords = LastWords(RefCell::new(BTreeMap::new()));
}

#[test]
fn a_thread_that_ends_may_still_allocate_and_free() {
    for round in 0..50 {
        let speaker = thread::spawn(move || {
            LAST_WORDS.with(|words| {
                for each in 0..round {
                    words.0.borrow_mut().insert(each, "eleven long".to_string());
                }
            });
        });
        speaker.join().unwrap();
    }
}

#[test]
fn free_memory_is_returned_on_request() {
    drop(vec![1u8; 64 << 20]); // larger than what other tests hold back
    let thread = thread::spawn(tenure::trim);
    thread.join().unwrap();
    let again = vec![2u8; 64 << 20];
    assert!(again.iter().all(|&byte| byte == 2));
}
