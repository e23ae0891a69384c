//! By which addresses guests reach this server: what the codes of a room can carry.

use crate::{Config, guard::own_addresses};
use schemars::JsonSchema;
use serde::Serialize;
use std::net::{IpAddr, SocketAddr};

/// How guests get here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Doors {
    /// Whether only this machine reaches the server: then no phone can join.
    pub here_only: bool,
    /// The command that lets phones in.
    pub command: String,
    /// The addresses that the codes can carry; of a server for this machine only, those that it would have with the command.
    pub addresses: Vec<String>,
}

impl Doors {
    /// As they are now: networks come and go.
    pub(super) fn of(config: &Config) -> Self {
        let port = port(&config.address);
        let here_only = config.bind.is_loopback() && config.host_names.is_empty();
        let all = here_only || config.bind.is_unspecified();
        let own = own_addresses().filter(|own| all && is_for_guests(own));
        let own = own.map(|own| format!("http://{}", SocketAddr::new(own, port)));
        // The usual one first. A name that the host has given is that of a proxy, which speaks TLS.
        let usual = (!here_only).then(|| config.address.clone());
        let named = config.host_names.iter().map(|name| format!("https://{name}"));
        let mut addresses: Vec<String> = usual.into_iter().chain(own).chain(named).collect();
        let mut seen = std::collections::BTreeSet::new();
        addresses.retain(|address| seen.insert(address.clone()));
        let port = if port == 7666 { String::new() } else { format!(" --port {port}") };
        Doors { here_only, command: format!("necrodome serve --bind 0.0.0.0{port}"), addresses }
    }

    /// Whether a code can carry this address.
    pub(super) fn lead_to(&self, address: &str) -> bool {
        !self.here_only && self.addresses.iter().any(|own| own == address)
    }
}

/// Whether phones of the same network can use an address.
fn is_for_guests(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !v4.is_loopback() && !v4.is_link_local(),
        IpAddr::V6(v6) => !v6.is_loopback() && !v6.is_unicast_link_local(),
    }
}

/// The port in an address such as `http://127.0.0.1:7666`.
fn port(address: &str) -> u16 {
    address.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or(80)
}
