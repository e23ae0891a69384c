//! `necrodome report --html` makes safe pages from a store, whatever the names of bots are and whatever bots write.

use crate::program::{necrodome_in, output_in, refusal};
use serde_json::Value;
use std::{collections::BTreeMap, fs, path::Path};
use tempfile::TempDir;

/// A bot whose log and reasons would be dangerous as HTML, and whose fourth decision is none.
const HOSTILE: &str = r#"
import sys, json
decisions = 0
print("<script>alert('log')</script>\x1b[31m", file=sys.stderr)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    elif message["type"] == "decide":
        decisions += 1
        action = {"type": "<fly>" if decisions == 4 else "stop" if message["view"]["turn"]["brains"] else "go"}
        reason = "</pre><img src=x onerror=alert('reason')>"
        print(json.dumps({"type": "act", "id": message["id"], "action": action, "reason": reason}), flush=True)
"#;

/// A store with the tournament of a hostile bot.
fn folder() -> TempDir {
    folder_with(&[])
}

fn folder_with(dice: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bot.py"), HOSTILE).unwrap();
    let names =
        ["<script>alert('name')=./bot.py", r#"..\" onclick 'x=greedy"#, "&lt;=stop-at:brains=3", "random"];
    let words = ["tournament", "zombie-dice-race"];
    let more =
        ["--format=round-robin", "--set=first_roll=mandatory", "--blocks=4", "--seed=3", "--store=t.store"];
    output_in(folder.path(), &[&words[..], &names, &more, dice].concat());
    folder
}

fn pages(folder: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    files
        .map(|file| (file.file_name().into_string().unwrap(), fs::read_to_string(file.path()).unwrap()))
        .collect()
}

#[test]
fn pages_are_named_by_number_and_all_text_is_escaped() {
    // Dice that are known to make a habit cost something.
    let folder = folder_with(&["--public-dice"]);
    output_in(folder.path(), &["report", "t.store", "--html=site"]);
    let pages = pages(&folder.path().join("site"));
    let names: Vec<&str> = pages.keys().map(String::as_str).collect();
    assert_eq!(names, ["bot-1.html", "bot-2.html", "bot-3.html", "bot-4.html", "index.html"]);
    for (name, page) in &pages {
        for bad in ["<script", "<img", "<fly", "\u{1b}", "http://", "https://", "\" onclick"] {
            assert!(!page.contains(bad), "{name} has {bad:?}");
        }
    }
    let (index, hostile, other) = (&pages["index.html"], &pages["bot-1.html"], &pages["bot-2.html"]);
    assert!(index.contains(r#"<a href="bot-1.html">&lt;script&gt;alert('name')</a>"#), "{index}");
    assert!(index.contains("&amp;lt;"), "a name that is escaped already");
    assert!(index.find("What went wrong") < index.find("Standings"), "faults come first");
    // Its faults, its worst match told to the end with what it said, its log.
    assert!(hostile.contains("block 0, match 0: ") && hostile.contains("&lt;fly&gt;"), "{hostile}");
    assert!(hostile.contains("reason: &quot;&lt;/pre&gt;&lt;img src=x") && hostile.contains("Result"));
    assert!(hostile.contains("<summary>Block 0, match 0 against"), "the match with the fault is told");
    assert!(hostile.contains("&lt;script&gt;alert('log')&lt;/script&gt;?[31m"));
    assert!(other.contains("its decisions cost") && other.contains("it stops"), "habits with their prices");
    assert!(!other.contains("Its log"), "a built-in bot writes none");
}

/// The words of the command that the page shows, behind the name of the program.
pub fn command_on_page(site: &Path) -> Vec<String> {
    let page = fs::read_to_string(site.join("index.html")).unwrap();
    let command =
        page.split_once(r#"<pre class="command" tabindex="0">"#).unwrap().1.split_once("</pre>").unwrap().0;
    let command =
        command.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    shell_words::split(&command).unwrap().split_off(1)
}

#[test]
fn the_command_on_the_page_plays_it_again() {
    let folder = folder();
    let report: Value =
        serde_json::from_str(&output_in(folder.path(), &["report", "t.store", "--json", "--html=site"]))
            .unwrap();
    let words = command_on_page(&folder.path().join("site"));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let again: Value =
        serde_json::from_str(&output_in(folder.path(), &[&words[..], &["--json"]].concat())).unwrap();
    assert_eq!(again["hash"], report["hash"], "{words:?}");
    assert_eq!(again["plan"], report["plan"]);
}

#[test]
fn a_folder_with_other_files_is_left_alone() {
    let folder = folder();
    let site = folder.path().join("site");
    fs::create_dir(&site).unwrap();
    output_in(folder.path(), &["report", "t.store", "--html=site"]);
    let first = pages(&site);
    fs::write(site.join("mine.txt"), "mine").unwrap();
    let words = ["report", "t.store", "--html=site"];
    let said = refusal(&mut necrodome_in(folder.path(), &words), 1);
    assert!(said.contains("site is not empty") && said.contains("--force"), "{said}");
    fs::write(site.join("index.html"), "old").unwrap();
    output_in(folder.path(), &[&words[..], &["--force"]].concat());
    let mut again = pages(&site);
    assert_eq!(again.remove("mine.txt").as_deref(), Some("mine"));
    assert_eq!(again, first, "the same store gives the same pages");
    let said =
        refusal(&mut necrodome_in(folder.path(), &["report", "t.store", "--html=t.store", "--force"]), 1);
    assert!(said.contains("cannot write t.store"), "{said}");
}

#[test]
fn every_game_has_pages() {
    let folder = tempfile::tempdir().unwrap();
    let line_ups = [
        "zombie-dice-solo greedy random",
        "zombie-dice greedy random cautious",
        "last-bullet gunner huddle",
        "infection careful spreader random",
        "tokyo angry random",
        "pig hold-at random",
    ];
    for (number, line_up) in line_ups.iter().enumerate() {
        let (store, site) = (format!("{number}.store"), format!("{number}"));
        let words: Vec<&str> = line_up.split(' ').collect();
        output_in(
            folder.path(),
            &[&["tournament"], &words[..], &["--seed=1", "--blocks=2", "--store", &store]].concat(),
        );
        output_in(folder.path(), &["report", &store, "--html", &site]);
        let pages = pages(&folder.path().join(site));
        assert_eq!(pages.len(), words.len(), "{line_up}");
        // The caption names the value that is drawn, as the head of the column does.
        let index = &pages["index.html"];
        assert_eq!(
            index.contains("The bar is the luck-adjusted "),
            index.contains(r#"<th scope="col">luck-adjusted"#),
            "{line_up}"
        );
        assert!(
            pages.values().any(|page| page.contains("Its worst matches") && page.contains("Result")),
            "{line_up}"
        );
    }
}

#[test]
fn a_folder_is_no_store() {
    let folder = TempDir::new().unwrap();
    let error = refusal(&mut necrodome_in(folder.path(), &["report", "."]), 2);
    assert_eq!(error, "error: .: this is a folder, not a store");
}
