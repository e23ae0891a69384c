//! Builds the pages in `web/` into the build folder, and lists them for the server to embed.
//!
//! Without Node.js the server still builds, and then says how to get the pages. `NECRODOME_WEB=skip` leaves them out on purpose;
//! `NECRODOME_WEB=required` makes a missing page an error.

use std::{
    env,
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// The sources of the pages. The build must not write into any of them, or cargo would rebuild for ever.
const SOURCES: [&str; 9] = [
    "../crates/cli/templates",
    "src",
    "public",
    "index.html",
    "package.json",
    "package-lock.json",
    "svelte.config.js",
    "vite.config.ts",
    "vite.viewer.config.ts",
];

fn main() {
    // Of the crate that is being built, wherever this script was compiled.
    let web = Path::new(&env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../web");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let pages = out.join("web");
    println!("cargo:rerun-if-env-changed=NECRODOME_WEB");
    for source in SOURCES {
        println!("cargo:rerun-if-changed={}", web.join(source).display());
    }
    let wanted = env::var("NECRODOME_WEB").unwrap_or_default();
    let _ = fs::remove_dir_all(&pages);
    if wanted != "skip"
        && let Err(why) = build(&web, &pages)
    {
        assert!(wanted != "required", "the web pages cannot be built: {why}");
        println!(
            "cargo:warning=the web pages are not included ({why}); install Node.js 20 with npm and build again"
        );
        let _ = fs::remove_dir_all(&pages);
    }
    let mut list = String::from("&[\n");
    list_files(&pages, "", &mut list).expect("the build folder can be read");
    list += "]\n";
    fs::write(out.join("pages.rs"), list).expect("the build folder can be written to");
}

fn build(web: &Path, pages: &Path) -> Result<(), String> {
    if !is_installed(web) {
        run("npm", &["ci", "--no-audit", "--no-fund"], web, pages)?;
    }
    run("npm", &["run", "build"], web, pages)
}

/// Whether `node_modules` was installed from the current lock file: npm keeps a copy of it there.
fn is_installed(web: &Path) -> bool {
    let time = |path: PathBuf| fs::metadata(path).and_then(|data| data.modified());
    let newer = || -> io::Result<bool> {
        Ok(time(web.join("node_modules/.package-lock.json"))? >= time(web.join("package-lock.json"))?)
    };
    newer().unwrap_or(false)
}

fn run(program: &str, words: &[&str], web: &Path, pages: &Path) -> Result<(), String> {
    let command = format!("{program} {}", words.join(" "));
    let done = Command::new(program).args(words).current_dir(web).env("WEB_OUT", pages).output();
    match done {
        Ok(done) if done.status.success() => Ok(()),
        Ok(done) => {
            let said = [done.stdout, done.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            // Warnings of build scripts are one line each.
            let end: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
            Err(format!("`{command}` failed: {}", end[end.len().saturating_sub(12)..].join(" | ")))
        }
        Err(error) => {
            // It may be installed later, which changes one of these folders.
            for folder in env::split_paths(&env::var_os("PATH").unwrap_or_default()) {
                println!("cargo:rerun-if-changed={}", folder.display());
            }
            Err(format!("`{command}` cannot be run: {error}"))
        }
    }
}

/// Writes `("assets/a.js", include_bytes!("/.../assets/a.js")),` for every file, sorted by name.
fn list_files(folder: &Path, prefix: &str, list: &mut String) -> io::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            list_files(&entry.path(), &format!("{name}/"), list)?;
        } else {
            let _ = writeln!(list, "({name:?}, include_bytes!({:?})),", entry.path());
        }
    }
    Ok(())
}
