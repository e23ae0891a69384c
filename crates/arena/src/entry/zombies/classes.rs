//! Reads what compiled classes say about themselves: enough to find the players among them without running anything.

use std::collections::{BTreeMap, BTreeSet};

/// The parts of a class that matter here. Names are written with slashes, as in class files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Class {
    pub name: String,
    /// The class that it extends, and the interfaces that it implements.
    above: Vec<String>,
    /// Whether the host can make an object of the class.
    concrete: bool,
}

/// The interface of all bots.
const PLAYER: &str = "zombie/Player";

impl Class {
    /// Reads a class file (The Java Virtual Machine Specification, chapter 4). Returns `None` if it is not one.
    pub(super) fn read(bytes: &[u8]) -> Option<Class> {
        let mut file = Reader(bytes);
        if file.number(4)? != 0xCAFE_BABE {
            return None;
        }
        file.skip(4)?;
        let count = file.number(2)?;
        let mut texts: BTreeMap<usize, &[u8]> = BTreeMap::new();
        let mut classes: BTreeMap<usize, usize> = BTreeMap::new();
        let mut place = 1;
        while place < count {
            let wide = match file.number(1)? {
                1 => {
                    let length = file.number(2)?;
                    texts.insert(place, file.skip(length)?);
                    false
                }
                7 => {
                    classes.insert(place, file.number(2)?);
                    false
                }
                8 | 16 | 19 | 20 => file.skip(2).map(|_| false)?,
                15 => file.skip(3).map(|_| false)?,
                3 | 4 | 9..=12 | 17 | 18 => file.skip(4).map(|_| false)?,
                // Long numbers take two places.
                5 | 6 => file.skip(8).map(|_| true)?,
                _ => return None,
            };
            place += 1 + usize::from(wide);
        }
        let name = |place| Some(String::from_utf8_lossy(texts.get(classes.get(&place)?)?).into_owned());
        let flags = file.number(2)?;
        let own = name(file.number(2)?)?;
        // Only `Object` extends nothing.
        let mut above: Vec<String> = name(file.number(2)?).into_iter().collect();
        for _ in 0..file.number(2)? {
            above.push(name(file.number(2)?)?);
        }
        const INTERFACE_OR_ABSTRACT_OR_ENUM: usize = 0x4600;
        Some(Class { name: own, above, concrete: flags & INTERFACE_OR_ABSTRACT_OR_ENUM == 0 })
    }

    /// Returns the name as it is written in Java.
    pub(super) fn dotted(&self) -> String {
        self.name.replace('/', ".")
    }

    /// Whether this name may mean the class: with its package or without, nested classes as in Java or as in the JVM.
    pub(super) fn is_called(&self, name: &str) -> bool {
        let (dotted, nested) = (self.dotted(), self.name.rsplit('/').next().unwrap_or_default());
        let names = [self.simple(), nested, &dotted, &nested.replace('$', "."), &dotted.replace('$', ".")];
        names.contains(&name)
    }

    /// Returns the name without its package and without the class around it.
    pub(super) fn simple(&self) -> &str {
        self.name.rsplit(['/', '$']).next().unwrap_or_default()
    }
}

/// Returns the classes that can be a bot, sorted by name.
pub(super) fn players(all: &[Class]) -> Vec<&Class> {
    let by_name: BTreeMap<&str, &Class> = all.iter().map(|class| (class.name.as_str(), class)).collect();
    let mut below: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, class) in &by_name {
        class.above.iter().for_each(|above| below.entry(above).or_default().push(name));
    }
    // Each is looked at once: strangers' classes may extend themselves.
    let (mut found, mut next) = (BTreeSet::new(), vec![PLAYER]);
    while let Some(name) = next.pop() {
        let new = below.get(name).into_iter().flatten().filter(|name| found.insert(**name));
        next.extend(new.copied());
    }
    by_name.into_values().filter(|class| class.concrete && found.contains(class.name.as_str())).collect()
}

/// Bytes to read from the start.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn skip(&mut self, count: usize) -> Option<&'a [u8]> {
        let (read, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(read)
    }

    /// Reads a number of `bytes` bytes, the highest first.
    fn number(&mut self, bytes: usize) -> Option<usize> {
        Some(self.skip(bytes)?.iter().fold(0, |number, &byte| number << 8 | usize::from(byte)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str, above: &[&str], concrete: bool) -> Class {
        Class { name: name.into(), above: above.iter().map(|&name| name.into()).collect(), concrete }
    }

    #[test]
    fn players_are_found_through_what_they_extend() {
        let all = [
            class("player/Base", &["java/lang/Object", PLAYER], false),
            class("player/Wolf", &["player/Base"], true),
            class("player/Shape", &["java/lang/Object"], true),
            class("player/Loop", &["player/Loop"], true),
            class("player/Deep", &["player/Wolf"], true),
        ];
        let names: Vec<&str> = players(&all).into_iter().map(Class::simple).collect();
        assert_eq!(names, ["Deep", "Wolf"]);
        assert_eq!(class("player/Outer$Inner", &[], true).simple(), "Inner");
        assert_eq!(class("player/Wolf", &[], true).dotted(), "player.Wolf");
        let inner = class("player/Outer$Inner", &[], true);
        for name in ["Inner", "Outer$Inner", "Outer.Inner", "player.Outer$Inner", "player.Outer.Inner"] {
            assert!(inner.is_called(name), "{name}");
        }
        assert!(!inner.is_called("Outer") && !inner.is_called("player.Inner"));
    }

    #[test]
    fn a_class_file_tells_its_name_and_what_is_above_it() {
        // The smallest one: seven constants, no fields, no methods.
        let text = |text: &str| [&[1, 0, text.len() as u8], text.as_bytes()].concat();
        let constants = [
            text("player/Ada"),
            vec![7, 0, 1],
            text("java/lang/Object"),
            vec![7, 0, 3],
            text(PLAYER),
            vec![7, 0, 5],
            // A long number, in two places.
            vec![5, 0, 0, 0, 0, 0, 0, 0, 9],
        ];
        let mut file = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 55, 0, 9];
        file.extend(constants.concat());
        file.extend([0, 0x21, 0, 2, 0, 4, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]);
        let read = Class::read(&file).unwrap();
        assert_eq!(read, class("player/Ada", &["java/lang/Object", PLAYER], true));
        // Whatever is cut off is no class, and no panic either.
        for length in 0..file.len() - 6 {
            assert_eq!(Class::read(&file[..length]), None, "{length}");
        }
        assert_eq!(Class::read(b"#!/bin/sh"), None);
    }
}
