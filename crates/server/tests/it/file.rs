//! The server resumes files that earlier servers have written.

use super::visitor::{Visitor, config};
use necrodome_server::{Config, Site, keys::Key};
use rusqlite::{Connection, params};
use std::path::Path;

const PARTY: [&str; 9] = [
    r#"{"type":"open","rules":{"zombies":1,"max_turns":8,"start_antibodies":0,"start_viruses":0,"surplus_virus":"carry"},"limit":45,"seed":7}"#,
    r#"{"type":"join","name":"Ada","key":"a"}"#,
    r#"{"type":"join","name":"Bea !","key":"b"}"#,
    r#"{"type":"add_bot","name":"Bot Ada","bot":"careful"}"#,
    r#"{"type":"start"}"#,
    r#"{"type":"propose","from":0,"to":1}"#,
    r#"{"type":"accept","contact":5}"#,
    r#"{"type":"commit","contact":5,"player":0,"commit":{"type":"none"}}"#,
    r#"{"type":"commit","contact":5,"player":1,"commit":{"type":"none"}}"#,
];

const SCRIPT: &str = "\
# A party of Infection with phones. For the judge only!
SET zombies 1
SET max_turns 8
SET start_antibodies 0
SET start_viruses 0
SET surplus_virus carry
ROLES
GAME_START
INTERACT Ada \"Bea !\"
";

const TABLE: &str = r#"{"game":"zombie-dice-solo","options":{"first_roll":"free","out_of_dice":"end_turn"},"coach":false,"seed":4,"seats":[{"name":"Ada","bot":null,"key":"KEY"}]}"#;

const OPEN_TABLE: &str = r#"{"game":"zombie-dice","options":{"first_roll":"mandatory","max_rounds":1000,"out_of_dice":"end_turn","tiebreak":"one_round"},"coach":false,"seed":5,"seats":[{"name":"Ada","bot":null,"key":"KEY"},{"name":null,"bot":null,"key":null}]}"#;

fn site_in(store: &Path) -> Site {
    Site::open(Config { store: Some(store.to_owned()), ..config() }).unwrap()
}

#[tokio::test]
async fn what_is_in_the_file_is_taken_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("arena.sqlite");
    drop(site_in(&store));
    let (cookie, connection) = ("a-key", Connection::open(&store).unwrap());
    for (number, input) in (0_u32..).zip(PARTY) {
        connection
            .execute("INSERT INTO party_input VALUES ('ABCDE', ?1, ?2)", params![number, input])
            .unwrap();
    }
    let hash = Key::from_text(cookie).hash().to_text();
    for (id, setup, state) in [("solo", TABLE, "playing"), ("open", OPEN_TABLE, "waiting")] {
        let row = "INSERT INTO play_table (id, setup, state) VALUES (?1, ?2, ?3)";
        connection.execute(row, params![id, setup.replace("KEY", &hash), state]).unwrap();
    }
    let answer = r#"[{"type":"go"},null]"#;
    connection.execute("INSERT INTO play_answer VALUES ('solo', 0, 0, ?1)", [answer]).unwrap();
    drop(connection);

    let site = site_in(&store);
    let mut host = Visitor::host(&site).await;
    let script = host.get("/api/party/ABCDE/script").await.text();
    let is_role = |line: &&str| line.starts_with("HUMAN") || line.starts_with("ZOMBIE");
    let roles: Vec<&str> = script.lines().filter(is_role).collect();
    assert_eq!(script, SCRIPT.replace("ROLES", &roles.join("\n")));
    assert_eq!(roles.len(), 3);

    let mut ada = Visitor::stranger(&site);
    ada.cookies.insert("necrodome-table-solo".into(), cookie.into());
    let mut solo = ada.get("/api/tables/solo").await.ok();
    while solo["question"] != 2 {
        solo = ada.get("/api/tables/solo").await.ok();
    }
    // A click that comes late answers nothing.
    for (question, status) in [(1, 409), (2, 204)] {
        let go = serde_json::json!({ "question": question, "action": { "type": "go" } });
        assert_eq!(ada.post("/api/tables/solo/act", go).await.status, status);
    }
    let open = ada.get("/api/tables/open").await.ok();
    assert_eq!((&open["phase"], &open["seats"][0]["name"]), (&"waiting".into(), &"Ada".into()));
}
