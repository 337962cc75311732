// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

//! Finds the native library: below TENURE_PREFIX, else by pkg-config, else where the linker looks.
//! The feature `static` links the static library, the feature `checked` the one that reports the caller's mistakes.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the library below a prefix: lib, lib64, or lib with the system's name.
fn folder_below(prefix: &Path) -> Option<PathBuf> {
    let has_library = |folder: &Path| folder.join("libtenure.so").exists() || folder.join("libtenure.a").exists();
    let lib = prefix.join("lib");
    let mut folders = vec![lib.clone(), prefix.join("lib64")];
    if let Ok(entries) = std::fs::read_dir(&lib) {
        folders.extend(entries.flatten().map(|entry| entry.path()));
    }
    folders.into_iter().find(|folder| has_library(folder))
}

/// The folders that pkg-config names. None if it does not know the library.
fn folders_of_pkg_config() -> Option<Vec<PathBuf>> {
    let said = Command::new("pkg-config").args(["--libs-only-L", "tenure"]).output().ok()?;
    if !said.status.success() {
        return None;
    }
    let text = String::from_utf8(said.stdout).ok()?;
    Some(text.split_whitespace().filter_map(|word| word.strip_prefix("-L")).map(PathBuf::from).collect())
}

fn main() {
    for name in ["TENURE_PREFIX", "PKG_CONFIG_PATH"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    let folders = match env::var_os("TENURE_PREFIX") {
        Some(prefix) => {
            let prefix = PathBuf::from(prefix);
            let folder = folder_below(&prefix).unwrap_or_else(|| {
                panic!("there is no libtenure below {}: set TENURE_PREFIX to where Tenure was installed", prefix.display())
            });
            vec![folder]
        }
        None => folders_of_pkg_config().unwrap_or_default(),
    };
    for folder in &folders {
        println!("cargo:rustc-link-search=native={}", folder.display());
    }
    let has_feature = |name| env::var_os(name).is_some();
    let library = if has_feature("CARGO_FEATURE_CHECKED") { "tenure_checked" } else { "tenure" };
    if has_feature("CARGO_FEATURE_STATIC") {
        println!("cargo:rustc-link-lib=static={library}");
        println!("cargo:rustc-link-lib=dylib=stdc++");
    } else {
        println!("cargo:rustc-link-lib=dylib={library}");
        // For the tests and examples of this crate. Programs say themselves where the loader finds the library.
        for folder in &folders {
            println!("cargo:rustc-link-arg=-Wl,-rpath,{}", folder.display());
        }
    }
}
