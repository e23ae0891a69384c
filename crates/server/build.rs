//! Builds the pages in `web/` and puts them where the server embeds them from.
//!
//! Without Node.js the server is built all the same; it then says how to get the pages. `NECRODOME_WEB=skip` leaves them out on
//! purpose, `NECRODOME_WEB=required` makes a missing page an error.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
};

fn main() {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("web");
    println!("cargo:rerun-if-env-changed=NECRODOME_WEB");
    for part in ["src", "public", "index.html", "package-lock.json", "api.schema.json", "vite.config.ts"] {
        println!("cargo:rerun-if-changed={}", web.join(part).display());
    }
    println!("cargo:rerun-if-changed={}", web.join("vite.viewer.config.ts").display());
    let wanted = env::var("NECRODOME_WEB").unwrap_or_default();
    let built = if wanted == "skip" { Err("NECRODOME_WEB=skip".to_owned()) } else { build(&web, &out) };
    if let Err(why) = built {
        assert!(wanted != "required", "the web pages cannot be built: {why}");
        println!(
            "cargo:warning=the web pages are not included ({why}); install Node.js 20 with npm and build again"
        );
        // An empty folder: the server sees that there is no page in it.
        let _ = fs::remove_dir_all(&out);
        fs::create_dir_all(&out).expect("the build folder can be written to");
    }
}

fn build(web: &Path, out: &Path) -> Result<(), String> {
    if !is_installed(web) {
        // Takes the versions of the lock file, and leaves it alone. `npm ci` would insist on the packages of other platforms, too.
        run("npm", &["install", "--no-save", "--no-audit", "--no-fund"], web, out)?;
    }
    run("npm", &["run", "build"], web, out)
}

/// Whether `node_modules` was installed from the present lock file: npm keeps a copy of it there.
fn is_installed(web: &Path) -> bool {
    let time = |path: PathBuf| fs::metadata(path).and_then(|data| data.modified());
    let newer = || -> io::Result<bool> {
        Ok(time(web.join("node_modules/.package-lock.json"))? >= time(web.join("package-lock.json"))?)
    };
    newer().unwrap_or(false)
}

fn run(program: &str, words: &[&str], web: &Path, out: &Path) -> Result<(), String> {
    let told = format!("{program} {}", words.join(" "));
    let done = Command::new(program).args(words).current_dir(web).env("WEB_OUT", out).output();
    match done {
        Ok(done) if done.status.success() => Ok(()),
        Ok(done) => {
            let said = [done.stdout, done.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            // Warnings of build scripts are one line each.
            let end: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
            Err(format!("`{told}` failed: {}", end[end.len().saturating_sub(12)..].join(" | ")))
        }
        Err(error) => Err(format!("`{told}` cannot be run: {error}")),
    }
}
