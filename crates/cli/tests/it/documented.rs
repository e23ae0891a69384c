//! What the documents say is true: their commands run and print what is shown, links and file names lead somewhere, and figures
//! have a command.
//!
//! HTML comments before a block of code say how to treat the block:
//!
//! - `<!-- file: NAME -->`: the block is a file that the next commands of the page use;
//! - `<!-- first: COMMAND -->`: a command to run before the block, in the same folder. `$BOT` is the README's bot, `$REPO` the checkout;
//! - `<!-- not run: REASON -->`: the commands of the block are only parsed.

use crate::program::{necrodome, output, process};
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, PoisonError},
    thread,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every page that people read, by its path in the checkout, with its text.
fn pages() -> BTreeMap<String, String> {
    let mut folders = vec![root().join("docs"), root().join("bots")];
    let mut found: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "python/README.md"]
        .map(|name| root().join(name))
        .into();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }
    let name = |path: &PathBuf| path.strip_prefix(root()).unwrap().display().to_string();
    found.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// A block of code, with what the comments before it say.
struct Block {
    /// Where it is, for messages.
    place: String,
    language: String,
    lines: Vec<String>,
    file: Option<String>,
    first: Option<String>,
    is_run: bool,
}

fn blocks(page: &str, text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut notes: Vec<(&str, &str)> = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let note = |wanted: &str| {
                notes.iter().find(|(kind, _)| *kind == wanted).map(|(_, text)| (*text).to_owned())
            };
            found.push(Block {
                place: format!("{page}:{}", number + 1),
                language: language.to_owned(),
                lines: lines
                    .by_ref()
                    .map(|(_, line)| line.to_owned())
                    .take_while(|line| line != "```")
                    .collect(),
                file: note("file"),
                first: note("first"),
                is_run: note("not run").is_none(),
            });
        }
        let comment = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
        match comment.and_then(|comment| comment.split_once(": ")) {
            Some(note) => notes.push(note),
            None => notes.clear(),
        }
    }
    found
}

/// A command of the program in a block, with what it prints if the block shows that.
struct Shown {
    command: String,
    prints: Option<String>,
}

/// The commands of the program in a block. What follows a `$ command` is what it prints.
fn commands(block: &Block) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut lines = block.lines.iter();
    while let Some(line) = lines.next() {
        let typed = line.strip_prefix("$ ");
        let mut command = typed.unwrap_or(line).replace("cargo run --release --", "necrodome");
        if command.starts_with("necrodome ") {
            while let Some(begun) = command.strip_suffix('\\') {
                command = begun.to_owned() + lines.next().unwrap().trim_start();
            }
            found.push(Shown { command, prints: typed.map(|_| String::new()) });
        } else if let Some(prints) = found.last_mut().and_then(|shown| shown.prints.as_mut()) {
            *prints += line;
            *prints += "\n";
        }
    }
    found
}

/// The words of a command, without a comment, the explanation after two spaces, and what a shell does with its output.
fn words(command: &str) -> Vec<String> {
    let command = command.split("  ").next().unwrap();
    let words = shell_words::split(command).unwrap_or_else(|error| panic!("{command}: {error}"));
    words.into_iter().skip(1).take_while(|word| !["#", ">", "|", "&&"].contains(&word.as_str())).collect()
}

#[test]
fn every_command_in_a_block_is_one_that_the_program_understands() {
    let mut parsed = 0;
    for (page, text) in pages() {
        let indented = text.lines().find(|line| line.starts_with("    necrodome "));
        assert_eq!(indented, None, "{page}: a command belongs into a fence, or it is not run");
        for shown in blocks(&page, &text).iter().flat_map(commands) {
            let command = &shown.command;
            let mut words = words(command);
            // Read up to here, and then only the help is printed.
            words.push("--help".into());
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let result = necrodome(&words).output().unwrap();
            assert!(
                result.status.success(),
                "{page}: {command}\n{}",
                String::from_utf8_lossy(&result.stderr)
            );
            parsed += 1;
        }
    }
    assert!(parsed > 60, "{parsed} commands were found");
}

#[test]
fn every_command_in_the_text_has_the_flags_that_it_names() {
    let mut helps: BTreeMap<String, String> = BTreeMap::new();
    for (page, text) in pages() {
        for command in text.split('`').skip(1).step_by(2).filter_map(|code| code.strip_prefix("necrodome ")) {
            let words: Vec<&str> = command.split_whitespace().collect();
            let is_group = ["judge", "store"].contains(&words[0]);
            let of: Vec<&str> = words[..if is_group { words.len().min(2) } else { 1 }].to_vec();
            if of[0].starts_with('-') || of[0] == "help" {
                continue;
            }
            let help = helps
                .entry(of.join(" "))
                .or_insert_with(|| output(&mut necrodome(&[&of[..], &["--help"]].concat())));
            for flag in words.iter().filter(|word| word.starts_with("--")) {
                let flag = flag.split(['=', ',', '.', ')']).next().unwrap();
                assert!(help.contains(flag), "{page}: `necrodome {command}`: there is no {flag}");
            }
        }
    }
    assert!(helps.len() > 10, "{:?}", helps.keys());
}

/// Runs a line in a shell that finds the program; gives its standard output.
fn run(line: &str, folder: &Path, bot: &Path, place: &str) -> String {
    let program = process(&[]).get_program().to_owned();
    let beside = Path::new(&program).parent().unwrap().to_owned();
    let others = env::var_os("PATH").unwrap();
    let path = env::join_paths([beside].into_iter().chain(env::split_paths(&others))).unwrap();
    let result = Command::new("bash")
        .args(["-euo", "pipefail", "-c", line])
        .current_dir(folder)
        .envs([("PATH", path.as_os_str()), ("BOT", bot.as_os_str()), ("REPO", root().as_os_str())])
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let out = String::from_utf8(result.stdout).unwrap();
    assert!(result.status.success(), "{place}: {line}\n{out}{}", String::from_utf8_lossy(&result.stderr));
    out
}

/// Fails unless what is shown is what was printed; `[...]` stands for whatever is left out.
fn assert_shown(shown: &str, printed: &str, what: &str) {
    let mut rest = printed;
    for part in shown.split("[...]\n") {
        let at = rest.find(part).unwrap_or_else(|| panic!("{what}\nshown:\n{part}\nprinted:\n{printed}"));
        rest = &rest[at + part.len()..];
    }
    assert!(shown.ends_with("[...]\n") || rest.trim().is_empty(), "{what}\nmore is printed:\n{rest}");
}

/// Runs the commands of a page one after the other, in a folder of its own.
fn try_page(page: &str, text: &str, bot: &Path) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let mut tried = 0;
    for block in blocks(page, text) {
        let content = block.lines.join("\n") + "\n";
        if let Some(file) = &block.file {
            fs::write(folder.path().join(file), &content).unwrap();
        }
        if !block.is_run || !["", "console"].contains(&block.language.as_str()) {
            continue;
        }
        let commands = commands(&block);
        if let Some(first) = block.first.as_ref().filter(|_| !commands.is_empty()) {
            run(first, folder.path(), bot, &block.place);
        }
        for Shown { command, prints } in &commands {
            let printed = run(command, folder.path(), bot, &block.place);
            if let Some(shown) = prints {
                assert_shown(shown, &printed, &format!("{}: {command}", block.place));
            }
            tried += 1;
        }
    }
    tried
}

#[test]
fn every_command_runs_and_prints_what_is_shown() {
    let pages = pages();
    let folder = tempfile::tempdir().unwrap();
    let bot = folder.path().join("bot.py");
    let readme = blocks("README.md", &pages["README.md"]);
    let of_readme = readme.iter().find(|block| block.file.is_some()).unwrap();
    fs::write(&bot, of_readme.lines.join("\n")).unwrap();
    let left = Mutex::new(pages.iter());
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let worker = || {
        let mut tried = 0;
        while let Some((page, text)) = next() {
            tried += try_page(page, text, &bot);
        }
        tried
    };
    let tried: usize = thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert!(tried >= 45, "{tried} commands were run");
}

/// The targets of all links in a text, outside of code.
fn links(text: &str) -> Vec<&str> {
    let after = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let sources =
        text.split("src=\"").chain(text.split("srcset=\"")).filter_map(|rest| rest.split('"').next());
    after.chain(sources.filter(|source| source.ends_with(".webp") || source.ends_with(".svg"))).collect()
}

/// The anchors of all headings of a page, as they are made from headings everywhere.
fn anchors(text: &str) -> Vec<String> {
    let headings =
        text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let kept = |letter: &char| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter);
    headings
        .map(|heading| heading.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-"))
        .collect()
}

#[test]
fn links_lead_somewhere() {
    let pages = pages();
    for (page, text) in &pages {
        for link in links(text).into_iter().filter(|link| !link.contains("://")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let folder = root().join(page).parent().unwrap().to_owned();
            let target = if path.is_empty() { root().join(page) } else { folder.join(path) };
            assert!(target.exists(), "{page}: {link}");
            if !anchor.is_empty() {
                let there = anchors(&fs::read_to_string(&target).unwrap());
                assert!(there.iter().any(|one| one == anchor), "{page}: {link}; there are {there:?}");
            }
        }
    }
}

#[test]
fn every_page_can_be_reached_from_the_first_ones() {
    let pages = pages();
    for (index, folder) in [("README.md", ""), ("docs/README.md", "docs/")] {
        let linked = links(&pages[index]);
        for page in pages
            .keys()
            .filter(|page| page.starts_with("docs/") && *page != index && !page.contains("example"))
        {
            let from_here = page.strip_prefix(folder).unwrap();
            assert!(linked.contains(&from_here), "{index} does not link {page}");
        }
    }
}

/// All paths of the checkout that a page names as code: words with a slash or a known ending, such as `docs/protocol.md`.
fn named_paths(text: &str) -> Vec<String> {
    let inline = text.split("```").step_by(2).flat_map(|part| part.split('`').skip(1).step_by(2));
    let fenced = text.split("```").skip(1).step_by(2).flat_map(str::lines);
    let words =
        inline.chain(fenced).flat_map(str::split_whitespace).map(|word| word.trim_start_matches("./"));
    let rooms = ["crates/", "docs/", "python/", "scripts/", "web/", "bots/", "fuzz/", "examples/"];
    words
        .filter(|word| rooms.iter().any(|room| word.starts_with(room)))
        .map(|word| word.trim_end_matches([',', ';', ':']).to_owned())
        .collect()
}

/// Whether a path exists, with `*` and `<game>` for any name.
fn exists(path: &str) -> bool {
    let mut places = vec![root()];
    for part in path.split('/') {
        let (before, after) = match part.find(['<', '*']) {
            Some(at) => (&part[..at], part[at..].trim_start_matches("<game>").trim_start_matches('*')),
            None => (part, ""),
        };
        let is_pattern = part.contains(['<', '*']);
        let inside = |place: &PathBuf| -> Vec<PathBuf> {
            if !is_pattern {
                return vec![place.join(part)];
            }
            let entries = fs::read_dir(place).into_iter().flatten().map(|entry| entry.unwrap().path());
            let fits = |path: &PathBuf| {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                name.starts_with(before) && name.ends_with(after)
            };
            entries.filter(fits).collect()
        };
        places = places.iter().flat_map(inside).filter(|place| place.exists()).collect();
    }
    !places.is_empty()
}

#[test]
fn files_that_developers_are_told_of_are_there() {
    let pages = pages();
    let mut found = 0;
    for page in ["CONTRIBUTING.md", "README.md", "docs/design.md", "docs/numbers.md", "docs/README.md"] {
        for path in named_paths(&pages[page]) {
            assert!(exists(&path) || path == "web/e2e/screenshots", "{page}: there is no {path}");
            found += 1;
        }
    }
    assert!(found > 60, "{found} paths were found");
    assert!(!exists("crates/rules/src/nothing.rs") && !exists("crates/own/<game>.py"));
}

/// The rows of tables in the page of figures: the figure, the command, and the page that claims it.
fn figures(text: &str) -> Vec<[String; 3]> {
    let cells = |line: &str| {
        line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()
    };
    let rows = text.lines().filter(|line| line.starts_with("| ") && line.contains("](")).map(cells);
    rows.map(|row| <[String; 4]>::try_from(row).unwrap_or_else(|row| panic!("a row of four: {row:?}")))
        .map(|[_, figure, command, page]| [figure, command, page])
        .collect()
}

#[test]
fn figures_are_on_the_pages_that_claim_them_and_have_a_command() {
    let text = &pages()["docs/numbers.md"];
    let rows = figures(text);
    assert!(rows.len() > 25, "{} figures", rows.len());
    for [figure, command, page] in rows {
        let link = links(&page)[0].split('#').next().unwrap().to_owned();
        let claimed = fs::read_to_string(root().join("docs").join(&link))
            .unwrap()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        for number in figure.split('`').skip(1).step_by(2) {
            assert!(claimed.contains(number), "{link} says nothing of {number}");
        }
        let command = command.trim_matches('`');
        let words: Vec<&str> = command.split_whitespace().collect();
        match words[..] {
            ["necrodome", "solve", ..] => {
                let printed = output(&mut necrodome(&words[1..]));
                let number = figure.split('`').nth(1).unwrap();
                assert!(printed.contains(number), "{command} does not print {number}:\n{printed}");
            }
            ["cargo", "bench", "-p", package, ..] => {
                let folder = package.strip_prefix("necrodome-").unwrap_or("cli");
                assert!(exists(&format!("crates/{folder}/benches")), "{command}");
            }
            ["cargo", "run", .., "--example", example, _] => {
                assert!(exists(&format!("crates/arena/examples/{example}")), "{command}")
            }
            // The block of this page that has it is run, or says why not.
            ["cargo", "test" | "run", ..] | ["necrodome", ..] => {}
            ["npm", "--prefix", folder, "run", script] => {
                let scripts = fs::read_to_string(root().join(folder).join("package.json")).unwrap();
                assert!(scripts.contains(&format!("\"{script}\":")), "{command}");
            }
            ["python", path, ..] | [path, ..] => assert!(exists(path.trim_start_matches("./")), "{command}"),
            [] => panic!("no command for {figure}"),
        }
    }
}

/// The rooms that each room uses, by its manifest.
fn used_rooms(room: &str) -> Vec<String> {
    let manifest = fs::read_to_string(root().join("crates").join(room).join("Cargo.toml")).unwrap();
    let for_use = manifest.split("[dev-dependencies]").next().unwrap();
    let names = for_use.lines().filter_map(|line| line.strip_prefix("necrodome-")?.split(['.', ' ']).next());
    names.map(str::to_owned).collect()
}

/// The rooms that the arrows from a room reach.
fn arrows_from<'a>(arrows: &[(&'a str, &'a str)], room: &str) -> Vec<&'a str> {
    arrows.iter().filter(|(from, _)| *from == room).map(|(_, to)| *to).collect()
}

#[test]
fn the_picture_of_the_rooms_shows_who_uses_whom() {
    let picture = fs::read_to_string(root().join("docs/pictures/rooms.svg")).unwrap();
    let arrows: Vec<(&str, &str)> = picture
        .split("data-arrow=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().split_once(' ').unwrap())
        .collect();
    for room in fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().file_name()) {
        let room = room.into_string().unwrap();
        let used = used_rooms(&room);
        let mut reached = arrows_from(&arrows, &room);
        for to in &reached {
            assert!(used.iter().any(|one| one == to), "an arrow from {room} to {to}, which it does not use");
        }
        // All that it uses can be reached, on the way of other rooms, too.
        let mut next = 0;
        while next < reached.len() {
            reached.extend(arrows_from(&arrows, reached[next]));
            next += 1;
        }
        for one in &used {
            assert!(reached.contains(&one.as_str()), "no arrow leads from {room} to {one}, which it uses");
        }
    }
    assert_eq!(arrows.len(), picture.matches("marker-end").count());
}

#[test]
fn one_version_is_in_all_manifests_and_in_the_changelog() {
    let version = env!("CARGO_PKG_VERSION");
    for (file, line) in [
        ("fuzz/Cargo.toml", format!("version = \"{version}\"")),
        ("bots/rust/Cargo.toml", format!("version = \"{version}\"")),
        ("web/package.json", format!("\"version\": \"{version}\"")),
        ("web/package-lock.json", format!("\"version\": \"{version}\"")),
        ("CHANGELOG.md", format!("## [{version}] - ")),
    ] {
        let text = fs::read_to_string(root().join(file)).unwrap();
        assert!(text.lines().any(|one| one.trim().starts_with(&line)), "{file} has no {line}");
    }
}
