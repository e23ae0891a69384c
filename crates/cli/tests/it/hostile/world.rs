//! The surroundings of a tournament with hostile bots: a user, folders with something to steal, sockets to connect to, and checks
//! for whatever is left behind.

use super::table::Row;
use serde_json::json;
use std::{
    collections::BTreeMap,
    fs,
    io::ErrorKind,
    net::{TcpListener, UdpSocket},
    os::{
        linux::net::SocketAddrExt,
        unix::{
            ffi::OsStrExt,
            fs::{MetadataExt, chown},
            net::{SocketAddr, UnixListener},
            process::CommandExt,
        },
    },
    path::{Path, PathBuf},
    process::{Command, Output, id},
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU32, Ordering},
    },
};

/// Bots that only play, in front of the others.
pub const HONEST: usize = 2;
/// Blocks of a tournament: enough for a bot to attack in one match and to be heard of in others.
const BLOCKS: &str = "3";
/// What ordinary users need to find an interpreter; a superuser's own may be closed to them.
pub const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Somebody in the line-up: a row of the tables, or nobody in particular.
#[derive(Debug, Clone)]
pub struct Stranger {
    pub row: Option<Row>,
    /// Which of two that do the same.
    pub number: usize,
}

pub fn bots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bots/misbehaving").canonicalize().unwrap()
}

/// The names in the line-up, those of the honest first.
pub fn names() -> impl Iterator<Item = String> {
    (0..).map(|place| if place < HONEST { format!("honest-{place}") } else { format!("stranger-{place}") })
}

/// A user of whom nothing runs. Root hides faults; whoever is not root is ordinary already.
pub fn new_user() -> Option<u32> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    nix::unistd::geteuid().is_root().then(|| 200_000 + id() % 10_000 * 100 + number % 100)
}

pub fn become_user(command: &mut Command, user: Option<u32>) {
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
}

/// Whether an ordinary user can run a command.
pub fn user_may(command: &mut Command) -> bool {
    become_user(command, new_user());
    command.output().is_ok_and(|output| output.status.success())
}

/// A place that ordinary users can reach, with the program in it. Not in `/tmp`: a bot may have one of its own.
pub struct Place(pub PathBuf);

impl Place {
    /// The one of this process, which is there as long as somebody holds it.
    pub fn get() -> Arc<Self> {
        static PLACE: Mutex<Weak<Place>> = Mutex::new(Weak::new());
        let mut kept = PLACE.lock().unwrap();
        kept.upgrade().unwrap_or_else(|| {
            let place = Arc::new(Place::new());
            *kept = Arc::downgrade(&place);
            place
        })
    }

    fn new() -> Self {
        let folder = PathBuf::from(format!("/var/tmp/necrodome-hostile-{}", id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        // Not by this process: what another test starts meanwhile would hold the file open for writing, and it could not be run.
        let program = assert_cmd::cargo::cargo_bin!("necrodome");
        let copied = Command::new("cp").arg(program).arg(folder.join("necrodome")).status().unwrap();
        assert!(copied.success());
        Place(folder)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// One tournament's world.
pub struct World {
    place: Arc<Place>,
    user: Option<u32>,
    folder: PathBuf,
    /// A word in the environment of all processes of the tournament.
    token: String,
    /// What is written where no bot may look.
    canary: String,
    /// What only the arena's own environment holds.
    secret: String,
    sockets: Sockets,
    entries: Vec<String>,
    /// All files before the tournament.
    before: BTreeMap<PathBuf, Vec<u8>>,
}

/// Where bots might call.
struct Sockets {
    tcp: TcpListener,
    tcp6: Option<TcpListener>,
    udp: UdpSocket,
    path: UnixListener,
    abstract_name: UnixListener,
}

impl Sockets {
    fn open(folder: &Path, name: &str) -> Self {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        let abstract_name = SocketAddr::from_abstract_name(name).unwrap();
        let sockets = Sockets {
            tcp6: TcpListener::bind(("::1", port)).ok(),
            udp: UdpSocket::bind(("127.0.0.1", port)).unwrap(),
            path: UnixListener::bind(folder.join("host.sock")).unwrap(),
            abstract_name: UnixListener::bind_addr(&abstract_name).unwrap(),
            tcp,
        };
        for listener in sockets.tcp6.iter().chain([&sockets.tcp]) {
            listener.set_nonblocking(true).unwrap();
        }
        sockets.udp.set_nonblocking(true).unwrap();
        sockets.path.set_nonblocking(true).unwrap();
        sockets.abstract_name.set_nonblocking(true).unwrap();
        sockets
    }

    /// Where somebody has called.
    fn called(&self) -> Vec<&'static str> {
        let nobody = |error: Option<std::io::Error>| error.is_some_and(|e| e.kind() == ErrorKind::WouldBlock);
        let quiet = [
            ("TCP", nobody(self.tcp.accept().err())),
            ("TCP over IPv6", self.tcp6.as_ref().is_none_or(|tcp| nobody(tcp.accept().err()))),
            ("UDP", nobody(self.udp.recv(&mut [0]).err())),
            ("a socket in a folder", nobody(self.path.accept().err())),
            ("an abstract socket", nobody(self.abstract_name.accept().err())),
        ];
        quiet.into_iter().filter(|(_, quiet)| !quiet).map(|(name, _)| name).collect()
    }
}

impl World {
    pub fn new(strangers: &[Stranger]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let place = Place::get();
        let folder = place.0.join(number.to_string());
        let token = format!("necrodome-token-{}-{number}-end", id());
        let canary = format!("canary-{}-{number}-end", id());
        let secret = format!("secret-{}-{number}-end", id());
        for part in ["home/.ssh", "night", "bots"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        for file in ["home/canary", "home/.profile", "home/.ssh/id_ed25519", "night/canary", "bots/canary"] {
            fs::write(folder.join(file), &canary).unwrap();
        }
        let sockets = Sockets::open(&folder.join("home"), &canary);
        let orders = json!({
            "store": folder.join("night/night.store"),
            "results": folder.join("night"),
            "home": folder.join("home"),
            "neighbour": folder.join("bots/honest-0"),
            "secret": secret,
            "port": sockets.tcp.local_addr().unwrap().port(),
            "socket": folder.join("home/host.sock"),
            "abstract": canary,
        });
        let honest = (0..HONEST).map(|_| Stranger { row: None, number: 0 });
        let mut entries = Vec::new();
        for (name, stranger) in names().zip(honest.chain(strangers.iter().cloned())) {
            let own = folder.join("bots").join(&name);
            fs::create_dir(&own).unwrap();
            let (file, attack) = match &stranger.row {
                Some(row) => (row.file.as_str(), row.attack.as_str()),
                None => ("manners", "nothing"),
            };
            for part in ["hostile", file].map(|part| format!("{part}.py")) {
                fs::copy(bots().join(&part), own.join(part)).unwrap();
            }
            // What a host keeps beside a bot, though it has the secret of the dice.
            fs::create_dir(own.join("shards")).unwrap();
            let pack = format!("PK\u{3}\u{4}{}plan.toml", "\0".repeat(26));
            for (file, begins) in [
                ("plan.toml", "# The plan of a tournament, for `necrodome shard`\n"),
                ("night.pack", &pack),
                ("shards/0.shard", "necrodome-shard 1\n"),
            ] {
                fs::write(own.join(file), format!("{begins}{canary}")).unwrap();
            }
            let mut orders = orders.clone();
            orders["attack"] = attack.into();
            orders["number"] = stranger.number.into();
            fs::write(own.join("orders.json"), orders.to_string()).unwrap();
            entries.push(format!("{name}=./bots/{name}/{file}.py"));
        }
        let limits = "[limits]\nrestarts = 1\nmatch_ms = 2000\nmemory_mb = 256\n";
        fs::write(folder.join("night.toml"), format!("game = \"zombie-dice-race\"\n{limits}")).unwrap();
        let user = new_user();
        give(&folder, user);
        let before = files(&folder);
        World { place, user, folder, token, canary, secret, sockets, entries, before }
    }

    pub fn csv(&self) -> PathBuf {
        self.folder.join("night/matches.csv")
    }

    /// Plays a stored tournament, with a secret in the environment of the arena and a file that is left open.
    pub fn play(&self, level: &str) -> Output {
        let mut command = Command::new("sh");
        command.args(["-c", "exec 9<\"$0\"; exec \"$@\""]).arg(self.folder.join("night/canary"));
        command.arg(self.place.0.join("necrodome")).args(["tournament", "night.toml"]).args(&self.entries);
        command.args([
            "--format=gauntlet",
            "--blocks",
            BLOCKS,
            "--seed=1",
            "--public-dice",
            "--threads=3",
            "--json",
        ]);
        command.args(["--store=night/night.store", "--csv-matches=night/matches.csv", "--sandbox", level]);
        command.current_dir(&self.folder).env_clear().env("HOME", self.folder.join("home"));
        command.env("PATH", format!("{PATH}:/{}", self.token)).env("NECRODOME_SECRET", &self.secret);
        become_user(&mut command, self.user);
        command.output().unwrap()
    }

    /// Whatever the tournament has left behind, or told that it should not know.
    pub fn traces(&self, played: &Output, level: &str) -> Vec<String> {
        // At once: whoever has seen the result must not find a process of a bot any more.
        let mut found: Vec<String> =
            self.processes().into_iter().map(|process| format!("left behind: {process}")).collect();
        found.extend(self.sockets.called().into_iter().map(|socket| format!("somebody called at {socket}")));
        let after = files(&self.folder);
        let results = ["night.store", "night.store-wal", "night.store-shm", "matches.csv"]
            .map(|name| self.folder.join("night").join(name));
        for (path, content) in &after {
            // Python leaves this wherever it may write, which is nowhere in a sandbox.
            let is_cache = path.components().any(|part| part.as_os_str() == "__pycache__");
            if results.contains(path) || is_cache && level == "limits" {
                continue;
            }
            if self.before.get(path) != Some(content) {
                found.push(format!("changed: {}", path.display()));
            }
        }
        let gone = self.before.keys().filter(|path| !after.contains_key(*path));
        found.extend(gone.map(|path| format!("gone: {}", path.display())));
        let told = results.iter().filter_map(|path| fs::read(path).ok());
        for text in told.chain([played.stdout.clone(), played.stderr.clone()]) {
            if contains(&text, &self.canary) || contains(&text, &self.secret) {
                found.push("somebody told a secret".into());
            }
        }
        found.extend(self.plants().into_iter().map(|path| format!("planted: {}", path.display())));
        found
    }

    /// Command lines of processes that have the token in their environment, or belong to the user.
    fn processes(&self) -> Vec<String> {
        let entries = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let is_ours = |path: &PathBuf| {
            let environment = fs::read(path.join("environ")).unwrap_or_default();
            let has_token = contains(&environment, &self.token);
            let is_user = self.user.is_some()
                && path.file_name().is_some_and(|name| name.as_bytes()[0].is_ascii_digit())
                && fs::metadata(path).is_ok_and(|data| Some(data.uid()) == self.user);
            let state = fs::read_to_string(path.join("stat")).unwrap_or_default();
            // A dead process is one no more: whoever adopts it may bury it later.
            let is_dead = state.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['Z', 'X']));
            (has_token || is_user) && !is_dead
        };
        let told = |path: PathBuf| {
            let name = fs::read_to_string(path.join("cmdline")).unwrap_or_default().replace('\0', " ");
            let status = fs::read_to_string(path.join("stat")).unwrap_or_default();
            format!("{name} ({status})")
        };
        entries.filter(is_ours).map(told).collect()
    }

    /// Files of the user in folders that all may write to.
    fn plants(&self) -> Vec<PathBuf> {
        let Some(user) = self.user else { return Vec::new() };
        let folders = ["/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue"].map(fs::read_dir).into_iter().flatten();
        let there = folders.flatten().flatten().map(|entry| entry.path());
        let is_users = |path: &Path| path.symlink_metadata().is_ok_and(|data| data.uid() == user);
        there.filter(|path| is_users(path)).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Gives a folder with all that is in it to a user.
fn give(folder: &Path, user: Option<u32>) {
    let Some(user) = user else { return };
    chown(folder, Some(user), Some(user)).unwrap();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => give(&entry.path(), Some(user)),
            false => chown(entry.path(), Some(user), Some(user)).unwrap(),
        }
    }
}

fn contains(text: &[u8], word: &str) -> bool {
    text.windows(word.len()).any(|part| part == word.as_bytes())
}

/// What every file below a folder holds, with its mode; a folder holds nothing, a link where it leads to.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let data = path.symlink_metadata().unwrap();
        let mut content = format!("{:o} ", data.mode()).into_bytes();
        if data.is_dir() {
            found.extend(files(&path));
        } else if data.is_symlink() {
            content.extend(fs::read_link(&path).unwrap().as_os_str().as_bytes());
        } else if data.is_file() {
            content.extend(fs::read(&path).unwrap());
        }
        found.insert(path, content);
    }
    found
}
