// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

//! The process heap of Tenure, a library for native memory chosen by how long it is held, as the
//! global allocator of a Rust program:
//!
//! ```
//! #[global_allocator]
//! static GLOBAL: tenure::Tenure = tenure::Tenure;
//!
//! let numbers: Vec<u64> = (0..1000).collect();
//! assert!(tenure::owns(numbers.as_ptr()));
//! ```
//!
//! C and C++ code in the same process that uses Tenure shares this heap: a block may be allocated in one language and
//! freed in another.
//!
//! # Link
//!
//! Install the native library, and set `TENURE_PREFIX` to where it is, or let pkg-config find it (`PKG_CONFIG_PATH`).
//! The feature `static` links the static library, `checked` the one that reports a program's mistakes. A program that
//! links the shared one tells the loader where it is, as for every shared library: `LD_LIBRARY_PATH`, `-Wl,-rpath`, or
//! an installation to `/usr/local` and `ldconfig`.
//!
//! # What changes from the system's malloc
//!
//! - Freed memory returns to the system by itself, a second after the free, also from between blocks in use.
//! - Blocks above 128 bytes are at most a quarter larger than requested, on average an eighth.
//! - [`trim`] returns free memory at once; `TENURE_HEAP_LIMIT=512M` limits the heap.
//! - With `TENURE_PASSTHROUGH=heap` every block comes from malloc, to compare without a rebuild.

#![no_std]
#![warn(missing_docs)]

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;

extern "C" {
    fn tn_abi_version() -> u32;
    fn tn_malloc(bytes: usize) -> *mut c_void;
    fn tn_calloc(count: usize, bytes: usize) -> *mut c_void;
    fn tn_realloc(block: *mut c_void, bytes: usize) -> *mut c_void;
    fn tn_aligned_alloc(bytes: usize, alignment: usize) -> *mut c_void;
    fn tn_aligned_realloc(block: *mut c_void, bytes: usize, alignment: usize) -> *mut c_void;
    fn tn_free(block: *mut c_void);
    fn tn_free_sized(block: *mut c_void, bytes: usize);
    fn tn_usable_size(block: *const c_void) -> usize;
    fn tn_owns(pointer: *const c_void) -> u32;
    fn tn_trim() -> usize;
}

/// Blocks of the heap have at least this alignment, as `tenure.h` promises.
const DEFAULT_ALIGNMENT: usize = 16;

/// The version of the interface that this crate was written for: `TN_ABI_VERSION` of `tenure.h`.
pub const ABI_VERSION: u32 = 1;

/// The process heap of Tenure, from any thread. It has no state of its own.
///
/// Out of memory is a null pointer, as [`GlobalAlloc`] asks; `Vec::try_reserve` and others report it as an error.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tenure;

// Sound: the functions of tenure.h may be called from any thread, do not unwind, and a block stays valid until its free.
unsafe impl GlobalAlloc for Tenure {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= DEFAULT_ALIGNMENT {
            tn_malloc(layout.size()).cast()
        } else {
            tn_aligned_alloc(layout.size(), layout.align()).cast()
        }
    }

    /// Pages that are fresh from the system are zero and are not written again, unless the alignment is above 16.
    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= DEFAULT_ALIGNMENT {
            return tn_calloc(1, layout.size()).cast();
        }
        let block: *mut u8 = tn_aligned_alloc(layout.size(), layout.align()).cast();
        if !block.is_null() {
            block.write_bytes(0, layout.size());
        }
        block
    }

    /// Passes the size, which saves the look-up of the block's page.
    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if layout.align() <= DEFAULT_ALIGNMENT {
            tn_free_sized(block.cast(), layout.size());
        } else {
            tn_free(block.cast());
        }
    }

    /// Grows and shrinks in place where it can. Huge blocks grow without a copy.
    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if layout.align() <= DEFAULT_ALIGNMENT {
            tn_realloc(block.cast(), new_size).cast()
        } else {
            tn_aligned_realloc(block.cast(), new_size, layout.align()).cast()
        }
    }
}

/// Whether the loaded native library has the interface that this crate was written for.
#[must_use]
pub fn is_compatible() -> bool {
    // Sound: the function only returns a constant.
    unsafe { tn_abi_version() == ABI_VERSION }
}

/// Whether a pointer is inside memory of the process heap. Any pointer is allowed.
#[must_use]
pub fn owns<T>(pointer: *const T) -> bool {
    // Sound: the function compares the address and does not read at it.
    unsafe { tn_owns(pointer.cast()) != 0 }
}

/// Returns free pages of the process heap to the system, and the number of bytes.
pub fn trim() -> usize {
    // Sound: any thread may call the function at any time.
    unsafe { tn_trim() }
}

/// The number of bytes that a block can hold: at least what was requested.
///
/// # Safety
///
/// `block` is an allocated block of [`Tenure`], or null.
#[must_use]
pub unsafe fn usable_size(block: *const u8) -> usize {
    tn_usable_size(block.cast())
}
