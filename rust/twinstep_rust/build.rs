//! Stamps the module with hashes of the workspace's sources, of all and of those of each engine, so
//! that a stale build is noticed.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap()).join("..");
    let mut files = Vec::new();
    collect(&root, &root, &mut files);
    files.sort();
    let mut engines: Vec<&str> = files.iter().filter_map(|(name, _)| folder(name)).collect();
    engines.dedup();
    engines.retain(|engine| *engine != FACE);
    let mut hashes = format!(":{}", hash(&files, &engines, ""));
    for engine in &engines {
        hashes += &format!(" {engine}:{}", hash(&files, &engines, engine));
    }
    for (_, path) in &files {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    println!("cargo:rerun-if-changed={}", root.display());
    println!("cargo:rustc-env=TWINSTEP_RUST_SOURCES={hashes}");
}

/// The crate with the engines' faces towards Python.
const FACE: &str = "twinstep_rust";

fn folder(name: &str) -> Option<&str> {
    name.split_once('/').map(|(folder, _)| folder)
}

/// The engine that a file belongs to, "" if it serves all.
fn owner<'a>(name: &'a str, engines: &[&str]) -> &'a str {
    let inner = name
        .strip_prefix(FACE)
        .and_then(|rest| rest.strip_prefix("/src/"));
    let first = match inner {
        Some(inner) => inner.split('/').next().unwrap().trim_end_matches(".rs"),
        None => folder(name).unwrap_or(""),
    };
    if engines.contains(&first) { first } else { "" }
}

/// FNV-1a of 64 bits: a mistake is to be noticed, not an attack. The same in Python:
/// twinstep/rust_sources.py.
fn hash(files: &[(String, PathBuf)], engines: &[&str], engine: &str) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for (name, path) in files {
        if !engine.is_empty() && !["", engine].contains(&owner(name, engines)) {
            continue;
        }
        let content = fs::read(path).unwrap();
        for byte in name.bytes().chain([0]).chain(content).chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

/// Lists the workspace's `src/**/*.rs` and what Cargo builds them with, by their names from its
/// root.
fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path
            .strip_prefix(root)
            .unwrap()
            .to_string_lossy()
            .replace('\\', "/");
        if path.is_dir() {
            if name != "target" {
                collect(root, &path, files);
            }
        } else if name.ends_with(".rs") && name.contains("/src/")
            || name.ends_with("Cargo.toml")
            || name == "Cargo.lock"
        {
            files.push((name, path));
        }
    }
}
