//! Puts the documents and the example bots into the program: every file in their folders, so that there is no list to maintain.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

/// Returns all files of a folder and its subfolders, relative to the folder.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            let name = path.file_name().map(PathBuf::from).unwrap_or_default();
            found.extend(files(&path)?.into_iter().map(|file| name.join(file)));
        } else {
            found.extend(path.file_name().map(PathBuf::from));
        }
    }
    Ok(found)
}

/// Writes a list of names and texts, in the order of the links in the folder's index (`README.md`); files that it does not link
/// come last.
fn list(name: &str, folder: &Path, extensions: &[&str], left_out: &str) -> io::Result<String> {
    let mut names: Vec<String> = files(folder)?.iter().map(|file| file.display().to_string()).collect();
    names.retain(|name| !name.starts_with(left_out));
    names.retain(|name| extensions.iter().any(|extension| name.ends_with(extension)));
    let index = fs::read_to_string(folder.join("README.md")).unwrap_or_default();
    let place = |name: &str| match name {
        "README.md" => 0,
        _ => index.rfind(&format!("]({name})")).unwrap_or(usize::MAX),
    };
    names.sort_by_cached_key(|name| (place(name), name.clone()));
    let mut text = format!("pub const {name}: &[Page] = &[\n");
    for file in names {
        let path = folder.join(&file).canonicalize()?;
        text += &format!("    Page {{ name: {file:?}, text: include_str!({path:?}) }},\n");
    }
    println!("cargo::rerun-if-changed={}", folder.display());
    Ok(text + "];\n")
}

fn main() -> io::Result<()> {
    let root = Path::new(&env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../..");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    // The page of the example game is for developers.
    let documents = list("DOCUMENTS", &root.join("docs"), &[".md", ".json"], "example/")?;
    let bots = list("EXAMPLE_BOTS", &root.join("bots/python"), &[".py"], "_")?;
    println!("cargo::rerun-if-changed=build.rs");
    fs::write(out.join("documents.rs"), documents + &bots)
}
