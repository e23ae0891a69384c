//! Bots of the contest on the JVM, run as the arena runs them.

use necrodome_arena::entry::{EntryKind, EntrySpec};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// A bot at the other end of two pipes.
struct Talk {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl Talk {
    /// Starts the bot with this source, whose class is `Bot`.
    fn with(body: &str) -> Talk {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("Bot.java");
        fs::write(&file, format!("package player;\nimport java.util.*;\nimport zombie.*;\n{body}")).unwrap();
        Talk::to(&EntrySpec::parse(&format!("compat:zombies:{}", file.display()), Path::new(".")).unwrap())
    }

    fn to(entry: &EntrySpec) -> Talk {
        let EntryKind::Program(program) = &entry.kind else { panic!("{entry:?}") };
        let mut child = Command::new(&program.words[0])
            .args(&program.words[1..])
            .current_dir(&program.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut talk = Talk { child, input, output, id: 0 };
        talk.tell(json!({"type": "hello", "protocol": 1, "game": "last-bullet", "options": {}, "seats": 2, "name": "x"}));
        assert_eq!(talk.hear(), json!({"type": "ready", "protocol": 1}));
        talk
    }

    fn tell(&mut self, message: Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn start(&mut self, seed: u64) {
        self.tell(json!({"type": "start", "seat": 0, "names": ["me", "Rival"], "seed": seed}));
    }

    /// The orders for these copies, by their numbers.
    fn orders(&mut self, copies: Value) -> Vec<Value> {
        self.orders_among(&["me", "Rival"], copies)
    }

    fn orders_among(&mut self, entries: &[&str], copies: Value) -> Vec<Value> {
        self.id += 1;
        let names = [&["Zombie", "DeadBody"], entries].concat();
        let view = json!({"clock": 12, "side": 58, "names": names, "me": 2, "copies": copies});
        self.tell(json!({"type": "decide", "id": self.id, "view": view}));
        let mut answer = self.hear();
        assert_eq!(answer["id"], self.id);
        serde_json::from_value(answer["action"]["orders"].take()).unwrap()
    }

    /// What it has written to standard error, once its input has ended.
    fn end(self) -> String {
        let Talk { mut child, input, .. } = self;
        drop(input);
        let mut log = String::new();
        child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(child.wait().unwrap().success(), "{log}");
        log
    }
}

fn copy(number: u32, seen: Value) -> Value {
    json!({"number": number, "x": 57, "y": 0, "bullets": 2, "seen": seen})
}

fn step(number: u32, direction: &str) -> Value {
    json!({"type": "move", "copy": number, "direction": direction})
}

fn shot(number: u32, target: u32) -> Value {
    json!({"type": "shoot", "copy": number, "target": target})
}

#[test]
fn bots_see_the_field_as_the_contest_showed_it() {
    let mut talk = Talk::with(
        r#"public class Bot implements Player {
            static void same(Object got, Object wanted) {
                if (!Objects.equals(got, wanted)) throw new AssertionError("expected " + wanted + ", got " + got);
            }
            public Action doTurn(PlayerContext context) {
                PlayerId[][] field = context.getPlayField();
                same(field.length, Constants.VISION_WIDTH);
                same(field[8].length, 17);
                same(field[8][8], context.getId());
                same(context.getId(), new PlayerId("Bot", 7));
                same(context.getId().hashCode(), new PlayerId("Bot", 7).hashCode());
                same(new PlayerId("Bot", 7).equals(new PlayerId("Rival", 7)), false);
                same(context.getId().toString().contains("Bot") && context.getId().toString().contains("7"), true);
                // West is x 0, north is y 0.
                same(field[5][0], new PlayerId("Zombie", 104));
                same(field[10][8], new PlayerId("Rival", 61));
                same(context.lookAround(1, 4), new PlayerId("DeadBody", 110));
                same(field[0][0], null);
                same(context.shootablePlayers(), new HashSet<>(Arrays.asList(field[8][8], field[10][8], field[9][12])));
                same(context.getBullets() + " " + context.getGameClock(), "2 12");
                same(context.getX() + " " + context.getY() + " " + context.getBoardSize(), "57 0 58");
                same(PlayerRegistry.isDeadOrUndead("Zombie") && PlayerRegistry.isDeadOrUndead("DeadBody"), true);
                same(PlayerRegistry.isDeadOrUndead("Rival") || PlayerRegistry.isDeadOrUndead("Bot"), false);
                for (Move move : Move.values()) same(Move.inDirection(9 * move.x, 2 * move.y), move);
                same(Move.NORTHWEST.x + " " + Move.NORTHWEST.y, "-1 -1");
                return Move.EAST;
            }
        }"#,
    );
    talk.start(1);
    let orders = talk.orders(json!([copy(7, json!([[-3, -8, 0, 104], [2, 0, 3, 61], [1, 4, 1, 110]]))]));
    assert_eq!((orders, talk.end()), (vec![step(7, "east")], String::new()));
}

#[test]
fn a_copy_that_fails_stays_and_why_is_told_once() {
    let mut talk = Talk::with(
        r#"public class Bot implements Player {
            public Action doTurn(PlayerContext context) {
                switch (context.getId().getNumber()) {
                    case 1: return null;
                    case 2: throw new IllegalArgumentException("no idea");
                    case 3: return new Action() {};
                    case 4: return Move.STAY;
                    default: return Move.SOUTHWEST;
                }
            }
        }"#,
    );
    talk.start(1);
    let copies: Vec<Value> = (1..=5).map(|number| copy(number, json!([]))).collect();
    for _ in 0..3 {
        assert_eq!(talk.orders(json!(copies)), [step(5, "southwest")]);
    }
    let log = talk.end();
    assert_eq!(log.matches("IllegalArgumentException: no idea").count(), 1, "{log}");
    assert_eq!(log.matches("at player.Bot.doTurn(Bot.java:").count(), 1, "{log}");
    assert_eq!(log.matches("expected a Move or a Shoot, got").count(), 1, "{log}");
}

#[test]
fn shots_are_at_whoever_has_the_name_and_the_number() {
    let mut talk = Talk::with(
        r#"public class Bot implements Player {
            public Action doTurn(PlayerContext context) {
                switch (context.getId().getNumber()) {
                    case 1: return new Shoot(null);
                    case 2: return new Shoot(context.getId());
                    case 3: return new Shoot(new PlayerId("Zombie", 104));
                    case 4: return new Shoot(new PlayerId("Rival", 104));
                    default: return new Shoot(new PlayerId("Zombie", 9));
                }
            }
        }"#,
    );
    talk.start(1);
    let copies: Vec<Value> = (1..=5).map(|number| copy(number, json!([[1, 1, 0, 104]]))).collect();
    let mut orders = talk.orders(json!(copies));
    orders.sort_by_key(|order| order["copy"].as_u64());
    let nobody = u32::MAX;
    assert_eq!(orders, [shot(1, nobody), shot(2, 2), shot(3, 104), shot(4, nobody), shot(5, nobody)]);
}

#[test]
fn each_match_has_a_bot_that_remembers_nothing() {
    let mut talk = Talk::with(
        r#"public class Bot implements Player {
            static int turns = 0;
            public Action doTurn(PlayerContext context) {
                return turns++ == 0 ? Move.NORTH : Move.SOUTH;
            }
        }"#,
    );
    for _ in 0..3 {
        talk.start(1);
        assert_eq!(talk.orders(json!([copy(7, json!([]))])), [step(7, "north")]);
        assert_eq!(talk.orders(json!([copy(7, json!([]))])), [step(7, "south")]);
        talk.tell(json!({"type": "end", "outcome": {"places": [1, 2], "scores": [2, 1], "turns": 2}}));
    }
}

#[test]
fn copies_are_asked_in_an_order_that_follows_from_the_seed() {
    let bot = r#"public class Bot implements Player {
        public Action doTurn(PlayerContext context) {
            return Move.randomMove();
        }
    }"#;
    let copies: Vec<Value> = (0..40).map(|number| copy(number, json!([]))).collect();
    let play = |seed| {
        let mut talk = Talk::with(bot);
        talk.start(seed);
        (talk.orders(json!(copies)), talk.orders(json!(copies)))
    };
    let (first, second) = play(5);
    assert_eq!(play(5), (first.clone(), second.clone()));
    assert_ne!(play(6).0, first);
    let asked =
        |orders: &[Value]| orders.iter().map(|order| order["copy"].as_u64().unwrap()).collect::<Vec<_>>();
    assert!(!asked(&first).is_sorted() && asked(&first) != asked(&second), "{first:?}");
}

#[test]
fn standard_output_and_input_are_the_hosts() {
    let mut talk = Talk::with(
        r#"public class Bot implements Player {
            static { System.out.println("loaded"); }
            public Action doTurn(PlayerContext context) {
                try {
                    System.out.println("heard " + System.in.read());
                } catch (java.io.IOException e) {
                    throw new RuntimeException(e);
                }
                return Move.WEST;
            }
        }"#,
    );
    talk.start(1);
    assert_eq!(talk.orders(json!([copy(7, json!([]))])), [step(7, "west")]);
    assert_eq!(talk.end(), "loaded\nheard -1\n");
}

#[test]
fn a_bot_has_the_name_of_its_class_whatever_entries_are_called() {
    // It runs from its own kind, and shoots others by their names.
    let mut talk = Talk::with(
        r#"public class Bot implements Player {
            public Action doTurn(PlayerContext context) {
                if (!context.getId().getName().equals("Bot")) return Move.STAY;
                String other = context.lookAround(1, 0).getName();
                return other.equals("Bot") ? Move.WEST : other.equals("Bot-2") ? Move.NORTH : Move.EAST;
            }
        }"#,
    );
    let mut beside = |entries: &[&str], who: u32| {
        talk.start(1);
        talk.orders_among(entries, json!([copy(7, json!([[1, 0, who, 8]]))]))
    };
    assert_eq!(beside(&["Ada", "Ben"], 2), [step(7, "west")]);
    assert_eq!(beside(&["Ada", "Ben"], 3), [step(7, "east")]);
    // Another entry that is called like the class does not pass for one of its own.
    assert_eq!(beside(&["Bot-2", "Bot"], 3), [step(7, "north")]);
    assert_eq!(beside(&["Bot-2", "Bot"], 2), [step(7, "west")]);
}

#[test]
fn lines_are_read_whatever_else_is_in_them() {
    let mut talk = Talk::with(
        r#"public class Bot implements Player {
            public Action doTurn(PlayerContext context) {
                return new Shoot(new PlayerId("Z\u00e4h \"\\\uD83D\uDE00", 8));
            }
        }"#,
    );
    talk.tell(json!({"type": "news", "view": {"copies": 3}, "id": [null, {"a": "]}\\\""}]}));
    talk.start(u64::MAX);
    // Fields in another order, unknown ones, letters that are escaped, spaces.
    let copies = r#"[ { "seen" : [ [1, 0, 3, 8] ], "hat": {"x": [1, "}"]}, "bullets": 1, "y": 0, "x": 1, "number": 7 } ]"#;
    let names = r#"["Zombie", "DeadBody", "me", "Z\u00e4h \"\\\ud83d\ude00"]"#;
    writeln!(
        talk.input,
        r#"{{"view": {{"copies": {copies}, "hat": -1.5e3, "me": 2, "names": {names}, "side": 58, "clock": 0}}, "id": 3, "type": "decide"}}"#
    )
    .unwrap();
    assert_eq!(talk.hear(), json!({"id": 3, "action": {"orders": [shot(7, 8)]}}));
}
