//! The addresses at which guests can reach this server, for the QR codes of a room.

use crate::{Config, guard::own_addresses};
use schemars::JsonSchema;
use serde::Serialize;
use std::net::{IpAddr, SocketAddr};

/// How guests can reach the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Doors {
    /// Whether only this machine can reach the server, so that no phone can join.
    pub here_only: bool,
    /// The command that starts a server which phones can reach.
    pub command: String,
    /// The addresses that the codes can carry. If only this machine can reach the server, those that it would have with `command`.
    pub addresses: Vec<String>,
}

impl Doors {
    /// Returns the doors as they are now: networks come and go.
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
        Doors { here_only, command: config.open_command.clone(), addresses }
    }

    /// Whether a code can carry this address.
    pub(super) fn lead_to(&self, address: &str) -> bool {
        !self.here_only && self.addresses.iter().any(|own| own == address)
    }
}

/// Whether phones in the same network can use this address.
fn is_for_guests(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !v4.is_loopback() && !v4.is_link_local(),
        IpAddr::V6(v6) => !v6.is_loopback() && !v6.is_unicast_link_local(),
    }
}

/// Returns the port in an address such as `http://127.0.0.1:7666`.
fn port(address: &str) -> u16 {
    address.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or(80)
}
