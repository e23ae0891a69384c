//! The state that the whole server shares.

use crate::{
    Db, Refusal,
    film::{Size, Studio},
    keys::{HostKeys, Key},
    learn::Desk,
    party::Parties,
    places::{Origin, Place, Places},
    tables::Tables,
    tournaments::{BotsError, OpenError, Tournaments},
};
use necrodome_arena::{process::Launcher, tournament::StoreError};
use std::{
    net::{IpAddr, Ipv4Addr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};
use tokio::{sync::watch, task::spawn_blocking};

/// The configuration of the server.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file that keeps everything; without one, everything is lost when the process ends.
    pub store: Option<PathBuf>,
    /// The arena's own binary, which supervises bots in processes.
    pub launcher: Launcher,
    /// The list of bots that the host allows (`bots.toml`).
    pub bots: Option<PathBuf>,
    /// How many threads each tournament plays on.
    pub threads: usize,
    /// The address for links to others, such as `http://192.168.1.5:7666`, without a slash at the end.
    pub address: String,
    /// The address that the server listens on. It also decides which names are accepted in requests.
    pub bind: IpAddr,
    /// The command that starts this server again so that the whole network can reach it.
    pub open_command: String,
    /// More names that lead to this server, such as that of a proxy.
    pub host_names: Vec<String>,
    /// How long a bot at a party waits before it acts, on average.
    pub bot_pace: Duration,
    /// Whether to play sample tournaments if the file is empty.
    pub samples: bool,
    /// The limits on load.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            store: None,
            launcher: "necrodome".into(),
            bots: None,
            threads: 1,
            address: "http://127.0.0.1:7666".to_owned(),
            bind: Ipv4Addr::LOCALHOST.into(),
            open_command: "necrodome serve --bind 0.0.0.0".to_owned(),
            host_names: Vec::new(),
            bot_pace: Duration::from_secs(3),
            samples: false,
            limits: Limits::default(),
        }
    }
}

/// The limits on load. A request beyond them is refused with 408, 413, 429 or 503.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections that are open at the same time.
    pub connections: usize,
    /// Viewers of live pages at the same time.
    pub streams: usize,
    /// The share of the connections, viewers, films, tables and party seats that one address may have, in percent. The phones of a
    /// whole party may come from one address.
    pub address_share: u32,
    /// Requests per second from one address, in the long run.
    pub rate: u32,
    /// Requests from one address in a burst.
    pub burst: u32,
    /// Bytes of a request.
    pub body: usize,
    /// Films that may be requested at the same time, until the last byte of each has been sent.
    pub films: usize,
    /// The largest film.
    pub film: Size,
    /// Tables at which people play.
    pub tables: usize,
    /// How long a player must be away before others at the table may let a bot play for them.
    pub patience: Duration,
    /// Rooms of parties.
    pub rooms: usize,
    /// Tournaments that run at the same time.
    pub tournaments: usize,
    /// How long the head of a request may take to arrive.
    pub slow_head: Duration,
    /// How long the body of a request may take to arrive.
    pub slow_body: Duration,
    /// How long a visitor may take nothing of an answer before the connection is closed.
    pub slow_reader: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections: 4096,
            streams: 2048,
            address_share: 50,
            rate: 60,
            burst: 240,
            body: 64 << 10,
            films: 8,
            film: Size::PAGE,
            tables: 100,
            patience: Duration::from_secs(60),
            rooms: 20,
            tournaments: 2,
            slow_head: Duration::from_secs(15),
            slow_body: Duration::from_secs(60),
            slow_reader: Duration::from_secs(30),
        }
    }
}

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The file is in use, is not a store, is damaged, or cannot be written.
    #[error("{}: {why}", path.as_ref().map_or("memory".into(), |path| path.display().to_string()))]
    Store {
        /// The file.
        path: Option<PathBuf>,
        /// What is wrong with it.
        why: StoreError,
    },
    /// The list of allowed bots is wrong.
    #[error(transparent)]
    Bots(#[from] BotsError),
}

/// The state of the server. A clone refers to the same server.
#[derive(Clone)]
pub struct Site(Arc<Shared>);

struct Shared {
    config: Config,
    db: Db,
    host_keys: HostKeys,
    streams: Arc<Places>,
    studio: Studio,
    desk: Desk,
    closing: watch::Sender<bool>,
    parties: Parties,
    tables: Tables,
    tournaments: Tournaments,
    pub(crate) visitors: crate::guard::Visitors,
}

impl Site {
    /// Opens the file and resumes whatever was going on.
    pub fn open(config: Config) -> Result<Self, ServeError> {
        let failed = |why| ServeError::Store { path: config.store.clone(), why };
        let db = Db::open(config.store.as_deref()).map_err(failed)?;
        let host_keys = HostKeys::open(&db).map_err(StoreError::from).map_err(failed)?;
        let parties = Parties::open(&db, &config).map_err(StoreError::from).map_err(failed)?;
        let tournaments = Tournaments::open(&config, &db).map_err(|error| match error {
            OpenError::Store(why) => failed(why),
            OpenError::Bots(error) => error.into(),
        })?;
        let tables =
            Tables::open(&config, &db, tournaments.allowed()).map_err(StoreError::from).map_err(failed)?;
        Ok(Site(Arc::new(Shared {
            tables,
            streams: Places::new(config.limits.streams, config.limits.address_share),
            studio: Studio::new(&config.limits),
            desk: Desk::new(&config.limits),
            visitors: crate::guard::Visitors::new(&config.limits),
            closing: watch::Sender::new(false),
            parties,
            tournaments,
            config,
            db,
            host_keys,
        })))
    }

    /// Returns the configuration.
    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// Returns the limits.
    pub fn limits(&self) -> &Limits {
        &self.0.config.limits
    }

    /// Returns the file.
    pub fn db(&self) -> &Db {
        &self.0.db
    }

    /// Returns the tournaments.
    pub(crate) fn tournaments(&self) -> &Tournaments {
        &self.0.tournaments
    }

    /// Returns the rooms of parties.
    pub(crate) fn parties(&self) -> &Parties {
        &self.0.parties
    }

    /// Returns the host's key of this start.
    pub fn host_key(&self) -> &Key {
        &self.0.host_keys.new
    }

    /// Returns all keys that make a browser the host's.
    pub(crate) fn host_keys(&self) -> &HostKeys {
        &self.0.host_keys
    }

    /// Returns the link that makes a browser the host's.
    pub fn host_link(&self) -> String {
        format!("{}/host/{}", self.0.config.address, self.0.host_keys.new.to_text())
    }

    /// Returns the tables at which people play.
    pub(crate) fn tables(&self) -> &Tables {
        &self.0.tables
    }

    /// Does slow work, such as waiting for the file, outside the threads that answer requests.
    pub(crate) async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Site) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let site = self.clone();
        spawn_blocking(move || work(&site)).await.map_err(Refusal::internal)?
    }

    /// Takes a place among the viewers of live pages, or refuses if there is none left.
    pub(crate) fn viewer(&self, origin: Origin) -> Result<Place, Refusal> {
        self.0.streams.take(origin).map_err(|crowded| crowded.refuse("viewers"))
    }

    /// Returns the place where films are made.
    pub(crate) fn studio(&self) -> &Studio {
        &self.0.studio
    }

    /// Returns the place where rules of thumb are computed.
    pub(crate) fn desk(&self) -> &Desk {
        &self.0.desk
    }

    /// Whether an address may send another request now.
    pub(crate) fn may_ask(&self, origin: Origin) -> bool {
        self.0.visitors.may_ask(origin)
    }

    /// Returns a value that becomes true when the server is about to end.
    pub(crate) fn closing(&self) -> watch::Receiver<bool> {
        self.0.closing.subscribe()
    }

    /// Ends all streams and everything in the background. Everything that was reported as done is stored.
    pub fn close(&self) {
        self.0.closing.send_replace(true);
        self.0.tables.close();
        self.0.tournaments.close();
    }
}
