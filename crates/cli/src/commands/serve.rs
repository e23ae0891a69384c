//! `necrodome serve`: the web arena.

use crate::{
    error::Error,
    interrupt,
    lineup::SandboxFlags,
    numbers::{above_zero, whole, within},
    paint::{bold, say},
};
use necrodome_server::{Config, Limits, Site, listen, room_for_connections};
use std::{
    env,
    ffi::OsString,
    io::Write,
    net::{IpAddr, SocketAddr, UdpSocket},
    path::{self, PathBuf},
    thread,
    time::Duration,
};
use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};

/// The usual port.
const PORT: u16 = 7666;
/// How many threads may wait for files or make films.
const BLOCKING: usize = 64;

/// Open the web arena: watch, replay, play, learn, and judge a party with phones
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  necrodome serve --open                          for yourself, in the browser
  necrodome serve --bind 0.0.0.0                  for phones and projectors in your network
  necrodome serve --store class.sqlite --bots bots.toml
  necrodome serve --host-name arena.example --address-share 100    behind a proxy on this machine

The link that is printed at the start makes a browser the host's: only it can start tournaments and parties. Everything is kept
in one file; after a restart, or a kill, tournaments and parties go on where they were.

A bots.toml lists the programs that tournaments and the host's tables may use:
  [[bot]]
  name = \"ada\"
  run = \"./ada.py\"
  games = [\"zombie-dice\", \"last-bullet\"]")]
pub struct Args {
    /// The port
    #[arg(long, default_value_t = PORT, value_parser = within(0..=u16::MAX))]
    port: u16,
    /// The address to listen on; 0.0.0.0 lets the whole network in
    #[arg(long, default_value = "127.0.0.1", value_parser = ip_address)]
    bind: IpAddr,
    /// The file that keeps everything
    #[arg(long, value_name = "FILE", default_value = "necrodome.sqlite")]
    store: PathBuf,
    /// A list of the bots that tournaments and the host's tables may use besides the built-in ones
    #[arg(long, value_name = "FILE")]
    bots: Option<PathBuf>,
    /// Threads that a tournament plays on; all cores by default
    #[arg(long, value_parser = within(1..=1024_u16))]
    threads: Option<u16>,
    /// Another name that leads to this arena, such as that of a proxy; can be repeated
    #[arg(long, value_name = "NAME", value_parser = host_name)]
    host_name: Vec<String>,
    /// How many requests per second one address may make
    #[arg(long, value_name = "N", default_value_t = Limits::default().rate, value_parser = above_zero::<u32>)]
    rate: u32,
    /// The most open connections; at most half of the files that the system lets the arena open
    #[arg(long, value_name = "N", default_value_t = Limits::default().connections, value_parser = above_zero::<usize>)]
    connections: usize,
    /// The share of the connections, viewers, tables, replays and party seats that one address may have; use 100 behind a proxy,
    /// from which all visitors come
    #[arg(long, value_name = "PERCENT", default_value_t = Limits::default().address_share, value_parser = within(1..=100_u32))]
    address_share: u32,
    /// How many seconds a player must be away before others at the table may let a bot play for them
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().patience.as_secs(), value_parser = whole::<u64>)]
    patience: u64,
    /// Open the host's page in the browser
    #[arg(long)]
    open: bool,
    /// Leave a new arena empty, without sample tournaments
    #[arg(long)]
    no_samples: bool,
    #[command(flatten)]
    sandbox: SandboxFlags,
}

fn ip_address(text: &str) -> Result<IpAddr, String> {
    let expected = "expected an IP address, such as 127.0.0.1 or 0.0.0.0 (the port goes to --port)";
    text.parse().map_err(|_| expected.to_owned())
}

pub fn run(args: &Args) -> Result<(), Error> {
    // Threads for what takes its time are few, so that a crowd cannot take those that bots need.
    let runtime = Builder::new_multi_thread().enable_all().max_blocking_threads(BLOCKING).build()?;
    let room = room_for_connections();
    runtime.block_on(async {
        let wanted = SocketAddr::new(args.bind, args.port);
        let listening = listen(wanted).await.map_err(|error| {
            Error::failure(format!("cannot listen on {wanted}: {error}"))
                .hint("choose another --port, or end what uses it")
        })?;
        let address = listening.address()?;
        let launcher = args.sandbox.launcher_for_any()?;
        let level = launcher.level();
        let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
        let site = Site::open(Config {
            store: Some(args.store.clone()),
            launcher,
            bots: args.bots.clone(),
            threads: args.threads.map_or(cores, usize::from),
            address: format!("http://{}", SocketAddr::new(seen_from_outside(args.bind), address.port())),
            bind: args.bind,
            open_command: open_command(env::args_os(), address.port()),
            host_names: args.host_name.clone(),
            samples: !args.no_samples,
            limits: Limits {
                rate: args.rate,
                burst: args.rate.saturating_mul(4),
                connections: args.connections.min(room),
                address_share: args.address_share,
                patience: Duration::from_secs(args.patience),
                ..Limits::default()
            },
            ..Config::default()
        })?;
        let link = site.host_link();
        let mut text = String::new();
        if !necrodome_server::pages_included() {
            text += "The pages are not included: this necrodome was built where Node.js was missing.\n\
                     Install Node.js 20 or newer with npm, and build again.\n";
        }
        text += &format!("{}  {link}\n", bold("For the host"));
        text += &format!("{}    {}\n", bold("For guests"), site.config().address);
        text += &format!("Programs are confined: {level} ({}).\n", level.about());
        text += &format!("Everything is kept in {}. Ctrl-C ends the arena.\n", args.store.display());
        // In one piece: a reader of the link alone does not end the arena.
        let mut out = anstream::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()?;
        drop(out);
        if args.open
            && let Err(error) = open::that_detached(&link)
        {
            say(format_args!("no browser could be opened ({error}): open the link yourself"));
        }
        if room < args.connections {
            say(format_args!(
                "at most {room} connections: the system does not let the arena open more files (ulimit -n)"
            ));
        }
        // The first signal ends the arena in order.
        interrupt::flag();
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let end = async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        };
        listening.serve(site, end).await;
        Ok(())
    })
}

/// Returns the command that starts the same server for the whole network. `words` is the command that started this one.
fn open_command(words: impl IntoIterator<Item = OsString>, port: u16) -> String {
    let mut words = words.into_iter().map(|word| word.to_string_lossy().into_owned());
    let mut command = Vec::new();
    while let Some(word) = words.next() {
        let (flag, mut value) = match word.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        let is_path = matches!(flag, "--store" | "--bots" | "--share");
        if is_path || matches!(flag, "--bind" | "--port") {
            value = value.or_else(|| words.next());
        }
        match value.filter(|_| is_path) {
            // The next terminal may be in another folder.
            Some(path) => {
                let path = path::absolute(&path).map_or(path, |path| path.display().to_string());
                command.extend([flag.to_owned(), path]);
            }
            None if matches!(flag, "--bind" | "--port") => {}
            None => command.push(word),
        }
    }
    command.extend(["--bind".to_owned(), "0.0.0.0".to_owned()]);
    if port != PORT {
        command.extend(["--port".to_owned(), port.to_string()]);
    }
    shell_words::join(command)
}

/// Parses a name without scheme, port and path.
fn host_name(text: &str) -> Result<String, String> {
    let name = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
    match is_name || name.parse::<IpAddr>().is_ok() {
        true => Ok(name.to_owned()),
        false => Err("expected a name such as arena.example, without http:// and without a port".to_owned()),
    }
}

/// Returns the address at which others reach this machine. No packet is sent to find it.
fn seen_from_outside(bind: IpAddr) -> IpAddr {
    if !bind.is_unspecified() {
        return bind;
    }
    let own = || {
        let socket = UdpSocket::bind("0.0.0.0:0")?;
        // An address for documentation: only the way there is looked up.
        socket.connect("192.0.2.1:9")?;
        socket.local_addr()
    };
    own().map_or(bind, |address: SocketAddr| address.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_for_the_network_keeps_all_other_arguments() {
        let again = |words: &str, port| {
            let words = words.split(' ').map(|word| word.replace('_', " ").into());
            open_command(words, port)
        };
        assert_eq!(again("necrodome serve", 7666), "necrodome serve --bind 0.0.0.0");
        assert_eq!(
            again(
                "./necrodome serve --bind 127.0.0.1 --port=0 --open --store=/my_arena.sqlite --rate 90",
                40_001
            ),
            "./necrodome serve --open --store '/my arena.sqlite' --rate 90 --bind 0.0.0.0 --port 40001"
        );
        let bots = env::current_dir().unwrap().join("bots.toml");
        assert_eq!(
            again("necrodome serve --bots bots.toml --bind=::1", 7666),
            format!(
                "necrodome serve --bots {} --bind 0.0.0.0",
                shell_words::quote(&bots.display().to_string())
            )
        );
    }
}
