//! A strict parser of JSON trace events.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// A process and a thread.
pub type Track = (u64, u64);

#[derive(Debug)]
pub struct Slice {
    pub name: String,
    pub from: u64,
    pub to: u64,
    pub args: Map<String, Value>,
}

/// A unit and the tracks of its instances.
pub struct Unit {
    pub name: String,
    pub tracks: Vec<Track>,
}

/// The values of a counter from each cycle on.
pub type Counter = Vec<(u64, Map<String, Value>)>;

#[derive(Default)]
pub struct Perfetto {
    processes: BTreeMap<u64, String>,
    threads: BTreeMap<Track, String>,
    slices: BTreeMap<Track, Vec<Slice>>,
    counters: BTreeMap<(u64, String), Counter>,
}

impl Perfetto {
    pub fn read(text: &str) -> Self {
        let json: Value = serde_json::from_str(text).expect("JSON");
        let mut read = Self::default();
        for event in json["traceEvents"].as_array().expect("events") {
            read.event(event);
        }
        for slices in read.slices.values_mut() {
            slices.sort_by_key(|slice| (slice.from, slice.to));
        }
        read
    }

    fn event(&mut self, event: &Value) {
        let number = |name: &str| event[name].as_u64().unwrap_or_else(|| panic!("{name}: {event}"));
        let name = event["name"].as_str().expect("a name");
        let args = event["args"].as_object().expect("arguments").clone();
        let pid = number("pid");
        let label = || args["name"].as_str().expect("a name").to_owned();
        match (event["ph"].as_str().expect("a kind"), name) {
            ("M", "process_name") => assert!(self.processes.insert(pid, label()).is_none(), "{event}"),
            ("M", "thread_name") => {
                assert!(self.threads.insert((pid, number("tid")), label()).is_none(), "{event}");
            }
            ("M", "process_sort_index" | "thread_sort_index") => assert!(args["sort_index"].is_u64()),
            ("X", _) => {
                let (from, to) = (number("ts"), number("ts") + number("dur"));
                let slice = Slice { name: name.to_owned(), from, to, args };
                self.slices.entry((pid, number("tid"))).or_default().push(slice);
            }
            ("C", _) => {
                assert!(!args.is_empty() && args.values().all(Value::is_u64), "{event}");
                self.counters.entry((pid, name.to_owned())).or_default().push((number("ts"), args));
            }
            _ => panic!("no event: {event}"),
        }
    }

    /// Checks that everything has a name, that slices of a track do not overlap, and that counters
    /// change and advance in time.
    pub fn is_well_formed(&self) {
        for (track, slices) in &self.slices {
            assert!(self.threads.contains_key(track) && self.processes.contains_key(&track.0), "{track:?}");
            for two in slices.windows(2) {
                assert!(two[0].to <= two[1].from, "{:?}: {two:?}", self.threads[track]);
            }
        }
        for ((pid, name), values) in &self.counters {
            assert!(self.processes.contains_key(pid), "{name}");
            for two in values.windows(2) {
                assert!(two[0].0 < two[1].0 && two[0].1 != two[1].1, "{name}: {two:?}");
            }
        }
    }

    pub fn slices(&self, track: Track) -> &[Slice] {
        self.slices.get(&track).map_or(&[], Vec::as_slice)
    }

    fn pid(&self, process: &str) -> Option<u64> {
        self.processes.iter().find(|(_, name)| *name == process).map(|(pid, _)| *pid)
    }

    /// Returns the tracks of a process whose names begin with a prefix.
    pub fn tracks_named(&self, process: &str, prefix: &str) -> Vec<Track> {
        let pid = self.pid(process).expect("the process");
        let named = self.threads.iter().filter(|((of, _), name)| *of == pid && name.starts_with(prefix));
        named.map(|(track, _)| *track).collect()
    }

    pub fn units(&self) -> Vec<Unit> {
        let mut units: Vec<Unit> = Vec::new();
        for track in self.tracks_named("SM", "unit ") {
            let name = self.threads[&track]["unit ".len()..].split('[').next().unwrap().to_owned();
            match units.iter_mut().find(|unit| unit.name == name) {
                Some(unit) => unit.tracks.push(track),
                None => units.push(Unit { name, tracks: vec![track] }),
            }
        }
        units
    }

    pub fn counters_of(&self, process: &str) -> BTreeSet<&str> {
        let Some(pid) = self.pid(process) else { return BTreeSet::new() };
        self.counters.keys().filter(|(of, _)| *of == pid).map(|(_, name)| name.as_str()).collect()
    }

    /// Returns the values of a counter; empty if it never changes.
    pub fn counter(&self, process: &str, name: &str) -> Counter {
        let pid = self.pid(process).expect("the process");
        self.counters.get(&(pid, name.to_owned())).cloned().unwrap_or_default()
    }

    fn blocks(&self) -> impl Iterator<Item = (u64, u64)> {
        self.processes.iter().filter_map(|(pid, name)| {
            let block = name.strip_prefix("block ")?;
            Some((*pid, block.parse().expect("a number")))
        })
    }

    /// Returns the activity track of each warp, by block and warp.
    pub fn warps(&self) -> BTreeMap<(u64, u64), Track> {
        let of_block = |(pid, block): (u64, u64)| {
            self.threads.iter().filter_map(move |(track, name)| {
                let warp = name.strip_prefix("warp ").filter(|_| track.0 == pid)?;
                Some(((block, warp.parse().ok()?), *track))
            })
        };
        self.blocks().flat_map(of_block).collect()
    }

    /// Returns block, warp, index, pc, issue, start and done of every instruction of the warps'
    /// tracks.
    pub fn instructions(&self) -> Vec<[u64; 7]> {
        let mut found = Vec::new();
        for (pid, block) in self.blocks() {
            let lanes =
                self.threads.iter().filter(|(track, name)| track.0 == pid && name.contains(" instructions "));
            for (track, name) in lanes {
                let warp = name.split(' ').nth(1).unwrap().parse().expect("a number");
                found.extend(self.slices(*track).iter().map(|slice| {
                    let [index, pc, start] =
                        ["index", "pc", "start"].map(|arg| slice.args[arg].as_u64().unwrap());
                    [block, warp, index, pc, slice.from, start, slice.to]
                }));
            }
        }
        found
    }
}

/// Returns the sum of a value over all cycles, and checks that it ends with zero.
pub fn integral(counter: &Counter, value: &str) -> u64 {
    let of = |values: &Map<String, Value>| values[value].as_u64().unwrap();
    assert!(counter.last().is_none_or(|(_, last)| of(last) == 0), "{value} ends with zero");
    counter.windows(2).map(|two| (two[1].0 - two[0].0) * of(&two[0].1)).sum()
}
