//! Measures the web arena under load: `cargo bench -p necrodome --bench web`. Uses only loopback, for a limited time, in one run.
//!
//! A tournament first runs alone, then with 500 spectators and a party of 200 phones. The promise: 99 of 100 requests take at most
//! 250 ms, the server uses less than 300 MB, nothing is lost, and the tournament keeps at least 80% of its speed, with the load
//! generator on the same cores.

#![allow(clippy::unwrap_used)]

use necrodome_rules::chance::{Chance, Seeded};
use reqwest::{Client, RequestBuilder, Response, header};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::{task::JoinSet, time::sleep};

/// How much is asked of the arena.
#[derive(Clone, Copy)]
struct Load {
    spectators: usize,
    phones: usize,
    /// How long the tournament is watched, alone and under load.
    time: Duration,
}

fn main() {
    // `cargo test --benches` only tries it out.
    let measured = std::env::args().any(|arg| arg == "--bench");
    let load = match measured {
        true => Load { spectators: 500, phones: 200, time: Duration::from_secs(20) },
        false => Load { spectators: 20, phones: 12, time: Duration::from_secs(1) },
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(run(load, measured));
}

async fn run(load: Load, measured: bool) {
    let folder = tempfile::tempdir().unwrap();
    let arena = Arena::start(folder.path());
    let notes = Arc::new(Notes::default());
    let host = arena.host(&notes).await;

    let tournament = start_tournament(&host).await;
    let alone = speed(&host, tournament, load.time).await;

    let end = Arc::new(AtomicBool::new(false));
    let mut crowd = JoinSet::new();
    for _ in 0..load.spectators {
        crowd.spawn(spectate(host.stranger(), tournament, notes.clone(), end.clone()));
    }
    let room = open_party(&host, load.phones / 10).await;
    let phones: Vec<Visitor> = (0..load.phones).map(|_| host.stranger()).collect();
    let mut party = JoinSet::new();
    for (number, phone) in phones.into_iter().enumerate() {
        party.spawn(join(phone, room.clone(), number));
    }
    let phones = party.join_all().await;
    host.post(&format!("/api/party/{room}/host"), &json!({"type": "start"})).await.unwrap();
    let mut party = JoinSet::new();
    for (number, phone) in phones.into_iter().enumerate() {
        party.spawn(play(phone, room.clone(), number, end.clone()));
    }
    let beside = speed(&host, tournament, load.time).await;
    end.store(true, Relaxed);
    let mut acknowledged = 0;
    for (phone, told) in party.join_all().await {
        let view = phone.get(&format!("/api/party/{room}")).await;
        let own = view["seat"]["number"].as_u64().unwrap();
        let met = contacts(&view);
        assert!(told.is_subset(&met), "phone {own} was told of contacts that are gone");
        acknowledged += met.iter().filter(|(_, with)| *with > own).count() as u64;
    }

    let script = host.text(&format!("/api/party/{room}/script")).await;
    let stored = script.lines().filter(|line| line.starts_with("INTERACT")).count() as u64;
    let memory = arena.peak_memory();
    let views = notes.views.load(Relaxed);
    drop(arena);
    while let Some(spectator) = crowd.join_next().await {
        spectator.unwrap();
    }

    let mut times = notes.times.lock().unwrap().clone();
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "{} spectators were sent {views} pages, {} phones met {stored} times",
        load.spectators, load.phones
    );
    println!(
        "requests            {:>8}   median {:.1} ms, 99% within {:.1} ms, longest {:.1} ms",
        times.len(),
        at(0.5),
        at(0.99),
        at(1.0)
    );
    println!("memory at its peak  {:>8.0} MB", memory as f64 / 1e6);
    println!("tournament alone    {alone:>8.0} matches/s");
    println!("tournament beside   {beside:>8.0} matches/s   {:.2}x of alone", beside / alone);
    let refused = notes.refused.load(Relaxed);
    assert_eq!(refused, 0, "requests were answered with 429 or 5xx");
    assert!(views as usize >= load.spectators, "spectators saw nothing");
    assert!(
        stored > 0 && stored == acknowledged,
        "{acknowledged} contacts were told, {stored} are in the record"
    );
    if measured {
        assert!(at(0.99) <= 250.0, "requests are too slow");
        assert!(memory < 300_000_000, "too much memory");
        assert!(beside / alone >= 0.8, "the tournament is slowed down too much");
    }
}

/// What is noticed on the way.
#[derive(Default)]
struct Notes {
    /// How long each request took to be answered.
    times: Mutex<Vec<Duration>>,
    /// Pages that spectators were sent.
    views: AtomicU64,
    /// Answers that no visitor should get.
    refused: AtomicU64,
}

/// A server in a process of its own.
struct Arena {
    process: Child,
    /// Open as long as the server runs: it has more to say than the link.
    _output: BufReader<ChildStdout>,
    link: String,
}

impl Drop for Arena {
    /// Nothing is left running, whatever happens here.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Arena {
    fn start(folder: &Path) -> Self {
        let store = folder.join("arena.sqlite");
        let mut process = Command::new(env!("CARGO_BIN_EXE_necrodome"))
            .args(["serve", "--port", "0", "--no-samples", "--rate", "1000000", "--store"])
            .arg(store)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let link = (&mut output)
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.split_whitespace().find(|word| word.contains("/host/")).map(str::to_owned));
        Arena { process, _output: output, link: link.unwrap() }
    }

    async fn host(&self, notes: &Arc<Notes>) -> Visitor {
        let (address, _) = self.link.split_once("/host/").unwrap();
        let client = Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let mut host =
            Visitor { client, address: address.to_owned(), cookie: String::new(), notes: notes.clone() };
        let answer = host.client.get(&self.link).send().await.unwrap();
        host.keep_cookie(&answer);
        host
    }

    fn peak_memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    }
}

/// Somebody who asks.
struct Visitor {
    client: Client,
    address: String,
    cookie: String,
    notes: Arc<Notes>,
}

impl Visitor {
    fn stranger(&self) -> Self {
        let (client, address, notes) = (self.client.clone(), self.address.clone(), self.notes.clone());
        Visitor { client, address, cookie: String::new(), notes }
    }

    fn keep_cookie(&mut self, answer: &Response) {
        let cookie = answer.headers()[header::SET_COOKIE].to_str().unwrap();
        cookie.split(';').next().unwrap().clone_into(&mut self.cookie);
    }

    /// Sends a request and notes how long the answer took.
    async fn send(&self, request: RequestBuilder) -> Response {
        let start = Instant::now();
        let answer = request.header(header::COOKIE, &self.cookie).send().await.unwrap();
        self.notes.times.lock().unwrap().push(start.elapsed());
        if answer.status().as_u16() == 429 || answer.status().is_server_error() {
            self.notes.refused.fetch_add(1, Relaxed);
        }
        answer
    }

    async fn get(&self, path: &str) -> Value {
        self.send(self.client.get(format!("{}{path}", self.address))).await.json().await.unwrap()
    }

    async fn text(&self, path: &str) -> String {
        self.send(self.client.get(format!("{}{path}", self.address))).await.text().await.unwrap()
    }

    /// The answer of a success; none where the arena refused, as it does when two want different things at once.
    async fn post(&self, path: &str, body: &Value) -> Option<Value> {
        let answer = self.send(self.client.post(format!("{}{path}", self.address)).json(body)).await;
        answer.status().is_success().then_some(())?;
        Some(answer.json().await.unwrap_or(Value::Null))
    }

    async fn follow(&self, path: &str) -> Live {
        let answer = self.send(self.client.get(format!("{}{path}", self.address))).await;
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
        Live { answer, rest: Vec::new() }
    }
}

/// A live page.
struct Live {
    answer: Response,
    rest: Vec<u8>,
}

impl Live {
    /// The next page as it was sent; none when the arena has ended.
    async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(end) = self.rest.windows(2).position(|two| two == b"\n\n") {
                let event: Vec<u8> = self.rest.drain(..end + 2).collect();
                if let Some(data) = event.strip_prefix(b"data: ") {
                    return Some(data.to_vec());
                }
                continue;
            }
            let more = self.answer.chunk().await.ok()??;
            self.rest.extend_from_slice(&more);
        }
    }
}

/// More matches than can be played while we watch.
async fn start_tournament(host: &Visitor) -> u64 {
    let entries = json!([{"bot": "greedy"}, {"bot": "cautious"}, {"bot": "random"}]);
    let plan = json!({"game": "zombie-dice", "entries": entries, "blocks": 10_000_000, "seed": 1});
    host.post("/api/tournaments", &plan).await.unwrap()["id"].as_u64().unwrap()
}

/// How many matches a second are stored.
async fn speed(host: &Visitor, tournament: u64, time: Duration) -> f64 {
    let path = format!("/api/tournaments/{tournament}");
    let look = async || (host.get(&path).await["line"]["matches"].as_f64().unwrap(), Instant::now());
    let fresh = async || {
        // What is told is some moments old: count from one change to another.
        let (before, _) = look().await;
        loop {
            let now = look().await;
            if now.0 > before {
                return now;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    let from = fresh().await;
    sleep(time).await;
    let to = fresh().await;
    (to.0 - from.0) / to.1.duration_since(from.1).as_secs_f64()
}

/// Watches a tournament to the end.
async fn spectate(visitor: Visitor, tournament: u64, notes: Arc<Notes>, end: Arc<AtomicBool>) {
    let mut live = visitor.follow(&format!("/api/tournaments/{tournament}/stream")).await;
    while let Some(page) = live.next().await {
        assert!(page.starts_with(b"{"), "a page is no JSON");
        notes.views.fetch_add(1, Relaxed);
        if end.load(Relaxed) {
            break;
        }
    }
}

async fn open_party(host: &Visitor, zombies: usize) -> String {
    let rules = json!({"zombies": zombies, "max_turns": 1000, "start_antibodies": 5, "start_viruses": 5});
    let room = host.post("/api/party", &json!({"rules": rules})).await.unwrap();
    room["id"].as_str().unwrap().to_owned()
}

async fn join(mut phone: Visitor, room: String, number: usize) -> Visitor {
    let request = phone.client.post(format!("{}/api/party/{room}/join", phone.address));
    let answer = phone.send(request.json(&json!({"name": format!("guest {number}")}))).await;
    phone.keep_cookie(&answer);
    phone
}

/// Turn and partner of every contact that a player's page shows.
fn contacts(view: &Value) -> BTreeSet<(u64, u64)> {
    let play = &view["seat"]["play"];
    let past = play["past"].as_array().unwrap();
    let turn = 1 + past.len() as u64;
    let now = play["met"].as_array().unwrap().iter().map(|met| (turn, met["with"].as_u64().unwrap()));
    let before = past.iter().flat_map(|past| {
        let turn = past["turn"].as_u64().unwrap();
        past["met"].as_array().unwrap().iter().map(move |with| (turn, with.as_u64().unwrap()))
    });
    now.chain(before).collect()
}

/// A guest: looks, thinks for a moment, does what there is to do. Gives back all contacts that it was told of.
async fn play(
    phone: Visitor,
    room: String,
    number: usize,
    end: Arc<AtomicBool>,
) -> (Visitor, BTreeSet<(u64, u64)>) {
    let mut live = phone.follow(&format!("/api/party/{room}/stream")).await;
    let mut chance = Seeded::new(number as u64, "load", 0);
    let mut view: Value = serde_json::from_slice(&live.next().await.unwrap()).unwrap();
    let others: Vec<u64> = view["board"]["players"]
        .as_array()
        .unwrap()
        .iter()
        .map(|player| player["number"].as_u64().unwrap())
        .collect();
    let mut told = BTreeSet::new();
    let path = format!("/api/party/{room}/act");
    while !end.load(Relaxed) {
        let think = Instant::now() + Duration::from_millis(300 + u64::from(chance.uniform(900)));
        while let Ok(page) = tokio::time::timeout_at(think.into(), live.next()).await {
            view = serde_json::from_slice(&page.unwrap()).unwrap();
        }
        told.extend(contacts(&view));
        if let Some(action) = decide(&view, &others, &mut chance) {
            // Two may want different things at once: then one is refused, and looks again.
            phone.post(&path, &action).await;
        }
    }
    (phone, told)
}

/// What there is to do: commit, accept, end the turn after a few contacts, or ask somebody.
fn decide(view: &Value, others: &[u64], chance: &mut Seeded) -> Option<Value> {
    let (seat, play) = (&view["seat"], &view["seat"]["play"]);
    if !play["contact"].is_null() {
        let commit = json!({"type": "commit", "with": play["contact"]["with"], "commit": {"type": "none"}});
        return play["contact"]["committed"].is_null().then_some(commit);
    }
    if let Some(first) = play["waiting"].as_array()?.first() {
        return Some(json!({"type": "accept", "with": first["with"]}));
    }
    let ended = view["ended"].as_array()?;
    if ended.contains(&seat["number"]) || !play["proposal"].is_null() {
        return None;
    }
    let few_left = play["may_end"] == true && ended.len() * 2 > others.len();
    if play["met"].as_array()?.len() >= 4 || few_left {
        return Some(json!({"type": "end"}));
    }
    let to = others[chance.uniform(others.len() as u32) as usize];
    (seat["number"] != to).then(|| json!({"type": "propose", "to": to}))
}
