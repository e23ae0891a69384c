//! A limited number of places, of which each address gets only a share, so that no visitor can keep all others out.

use crate::{Refusal, live::lock};
use axum::{extract::FromRequestParts, http::request::Parts};
use std::{
    collections::HashMap,
    convert::Infallible,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::{Arc, Mutex},
};

/// The address that a request comes from. For IPv6 it is the network, since one machine can use any number of addresses there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Origin(IpAddr);

impl Origin {
    pub fn of(address: IpAddr) -> Self {
        Origin(match address.to_canonical() {
            IpAddr::V6(address) if !address.is_loopback() => {
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
            }
            address => address,
        })
    }
}

/// As an extractor it never refuses. A request that comes over no socket counts as coming from this machine.
impl<S: Send + Sync> FromRequestParts<S> for Origin {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().copied().unwrap_or(Origin::of(Ipv4Addr::LOCALHOST.into())))
    }
}

/// Returns how many of `all` places one address may have: the given percentage, but at least one.
pub(crate) fn share(all: usize, percent: u32) -> usize {
    (all.saturating_mul(percent as usize) / 100).clamp(1, all.max(1))
}

/// Places of one kind.
pub(crate) struct Places {
    all: usize,
    each: usize,
    taken: Mutex<HashMap<Origin, usize>>,
}

/// A place, which becomes free when it is dropped.
pub(crate) struct Place {
    places: Arc<Places>,
    origin: Origin,
}

/// Why there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Crowded {
    /// All are taken.
    Everywhere,
    /// The address has taken its share.
    Here,
}

impl Places {
    pub fn new(all: usize, percent: u32) -> Arc<Self> {
        Arc::new(Places { all, each: share(all, percent), taken: Mutex::default() })
    }

    pub fn take(self: &Arc<Self>, origin: Origin) -> Result<Place, Crowded> {
        let mut taken = lock(&self.taken);
        if taken.values().sum::<usize>() >= self.all {
            return Err(Crowded::Everywhere);
        }
        let own = taken.entry(origin).or_default();
        if *own >= self.each {
            return Err(Crowded::Here);
        }
        *own += 1;
        Ok(Place { places: self.clone(), origin })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = lock(&self.places.taken);
        if let Some(own) = taken.get_mut(&self.origin) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.origin);
            }
        }
    }
}

impl Crowded {
    /// Returns the refusal for a visitor; `what` names the things of which there are too many.
    pub fn refuse(self, what: &str) -> Refusal {
        match self {
            Crowded::Everywhere => Refusal::full(format!("there are too many {what}")),
            Crowded::Here => Refusal::too_often(format!("there are too many {what} from this address"))
                .hint("the host can give an address a larger share (necrodome serve --address-share)"),
        }
        .hint("try again in a moment")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(address: &str) -> Origin {
        Origin::of(address.parse().unwrap())
    }

    #[test]
    fn one_address_gets_its_share_and_leaves_the_rest() {
        let places = Places::new(4, 50);
        let (ada, bea) = (origin("10.0.0.1"), origin("10.0.0.2"));
        let first: Vec<Place> = (0..2).map(|_| places.take(ada).ok().unwrap()).collect();
        assert_eq!(places.take(ada).err(), Some(Crowded::Here));
        let second: Vec<Place> = (0..2).map(|_| places.take(bea).ok().unwrap()).collect();
        assert_eq!(places.take(bea).err(), Some(Crowded::Everywhere));
        drop(first);
        assert_eq!(
            places.take(bea).err(),
            Some(Crowded::Here),
            "what is free is not for those who have enough"
        );
        assert!(places.take(ada).is_ok());
        drop(second);
        assert!(lock(&places.taken).is_empty(), "nobody is remembered who has no place");
        assert_eq!((share(1, 50), share(3, 1), share(8, 100), share(0, 50)), (1, 1, 8, 1));
    }

    #[test]
    fn a_network_of_version_6_is_one_address() {
        assert_eq!(origin("2001:db8::1"), origin("2001:db8::2:3"));
        assert_ne!(origin("2001:db8:0:1::1"), origin("2001:db8::1"));
        assert_eq!(origin("::ffff:10.0.0.1"), origin("10.0.0.1"));
        assert_ne!(origin("::1"), origin("::2"));
    }
}
