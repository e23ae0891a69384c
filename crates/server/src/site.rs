//! What the whole server shares.

use crate::{
    Db, Refusal,
    film::{Size, Studio},
    keys::{HostKeys, Key},
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

/// How the server is to run.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file that keeps everything; none lives as long as the process.
    pub store: Option<PathBuf>,
    /// The arena's own binary, which supervises bots in processes.
    pub launcher: Launcher,
    /// The list of bots that the host allows (`bots.toml`).
    pub bots: Option<PathBuf>,
    /// Threads that a tournament plays on.
    pub threads: usize,
    /// The name in links for others, such as `http://192.168.1.5:7666`; without a slash at the end.
    pub address: String,
    /// The address that it listens on. A name in a request that does not belong to it is refused.
    pub bind: IpAddr,
    /// More names that lead here, such as that of a proxy.
    pub host_names: Vec<String>,
    /// How long a bot at a party thinks, on average.
    pub bot_pace: Duration,
    /// Whether an empty file gets tournaments to look at.
    pub samples: bool,
    /// How much is too much.
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
            host_names: Vec::new(),
            bot_pace: Duration::from_secs(3),
            samples: false,
            limits: Limits::default(),
        }
    }
}

/// How much is too much. Whatever goes beyond is told so, with 408, 413, 429 or 503.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Open connections.
    pub connections: usize,
    /// Viewers of live pages.
    pub streams: usize,
    /// How much of all connections, viewers, films, tables and seats of a party one address may have, in percent. The phones of a
    /// whole party may come from one address.
    pub address_share: u32,
    /// Requests in a second from one address, in the long run.
    pub rate: u32,
    /// Requests at once from one address.
    pub burst: u32,
    /// Bytes of a request.
    pub body: usize,
    /// Films that are asked for at the same time, from the first byte of a replay to the last of its film.
    pub films: usize,
    /// How large a film may be.
    pub film: Size,
    /// Tables at which people play.
    pub tables: usize,
    /// How long a player must be away before others at the table may let a bot play for them.
    pub patience: Duration,
    /// Rooms of parties.
    pub rooms: usize,
    /// Tournaments that run at the same time.
    pub tournaments: usize,
    /// The whole head of a request must be here by then.
    pub slow_head: Duration,
    /// The whole body of a request must be here by then.
    pub slow_body: Duration,
    /// Whoever takes nothing of an answer for this long gets no more.
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
    /// The file is in use, not ours, damaged, or cannot be written to.
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

/// The server's state; a clone is the same server.
#[derive(Clone)]
pub struct Site(Arc<Shared>);

struct Shared {
    config: Config,
    db: Db,
    host_keys: HostKeys,
    streams: Arc<Places>,
    studio: Studio,
    closing: watch::Sender<bool>,
    parties: Parties,
    tables: Tables,
    tournaments: Tournaments,
    pub(crate) visitors: crate::guard::Visitors,
}

impl Site {
    /// Opens the store and takes up what was going on.
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
            visitors: crate::guard::Visitors::new(&config.limits),
            closing: watch::Sender::new(false),
            parties,
            tournaments,
            config,
            db,
            host_keys,
        })))
    }

    /// How it runs.
    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// How much is too much.
    pub fn limits(&self) -> &Limits {
        &self.0.config.limits
    }

    /// The file.
    pub fn db(&self) -> &Db {
        &self.0.db
    }

    /// The tournaments.
    pub(crate) fn tournaments(&self) -> &Tournaments {
        &self.0.tournaments
    }

    /// The rooms of parties.
    pub(crate) fn parties(&self) -> &Parties {
        &self.0.parties
    }

    /// The key that makes a browser the host's, from this start on.
    pub fn host_key(&self) -> &Key {
        &self.0.host_keys.new
    }

    /// The keys that do.
    pub(crate) fn host_keys(&self) -> &HostKeys {
        &self.0.host_keys
    }

    /// The link that makes a browser the host's.
    pub fn host_link(&self) -> String {
        format!("{}/host/{}", self.0.config.address, self.0.host_keys.new.to_text())
    }

    /// The tables at which people play.
    pub(crate) fn tables(&self) -> &Tables {
        &self.0.tables
    }

    /// Does what takes its time, such as waiting for the file, beside the threads that answer requests.
    pub(crate) async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Site) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let site = self.clone();
        spawn_blocking(move || work(&site)).await.map_err(Refusal::internal)?
    }

    /// A place among the viewers of live pages, if there is one left.
    pub(crate) fn viewer(&self, origin: Origin) -> Result<Place, Refusal> {
        self.0.streams.take(origin).map_err(|crowded| crowded.refuse("viewers"))
    }

    /// Where films are made.
    pub(crate) fn studio(&self) -> &Studio {
        &self.0.studio
    }

    /// Whether an address may ask once more now.
    pub(crate) fn may_ask(&self, origin: Origin) -> bool {
        self.0.visitors.may_ask(origin)
    }

    /// Becomes true when the server is about to end.
    pub(crate) fn closing(&self) -> watch::Receiver<bool> {
        self.0.closing.subscribe()
    }

    /// Ends all streams and what runs in the background; what was reported as done is stored.
    pub fn close(&self) {
        self.0.closing.send_replace(true);
        self.0.tables.close();
        self.0.tournaments.close();
    }
}
