//! The search: layer by layer forwards over distinct states, then backwards over the edges.
//!
//! Every edge issues one instruction, so the state graph is layered by the number of issues. The
//! makespan still to come from a state is the maximum (worst) or minimum (best) over its edges of
//! the later of the issued instruction's `done` and what the next state still needs; what was done
//! before does not change which choice is worst or best, because the maximum with a constant is
//! monotone. So one number per state and direction is enough, and past completion times are no
//! part of a state.

use std::collections::TryReserveError;
use std::ops::Range;

use super::layer::{SHARDS, Shard, hash, shard_of};
use super::model::Outcome;
use crate::base::Watch;

/// What is searched: states, the choices in each, and what an issue does.
pub trait System: Sync {
    /// A state in the open.
    type State: Clone;

    /// Instructions that every schedule issues.
    fn issues(&self) -> usize;
    /// The state before the first cycle, in normal form.
    fn start(&self) -> Self::State;
    /// Choices of a state, at most.
    fn most_choices(&self) -> usize;
    /// What can be chosen; empty only when everything has issued.
    fn choices(&self, state: &Self::State, choices: &mut Vec<u16>);
    /// Issues, moves time to the next decision, brings the state into normal form.
    fn issue(&self, state: &mut Self::State, choice: u16) -> Outcome;
    /// Writes a state in normal form as a key: equal keys, equal futures.
    fn encode(&self, state: &Self::State, key: &mut Vec<u16>);
    /// Reads a key back into a state of this system.
    fn decode(&self, key: &[u16], state: &mut Self::State);
}

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// States to visit at most.
    pub max_states: u64,
    /// Bytes that states and the issues between them may take, at most. How many a state takes depends on
    /// the block: the issues out of every state are kept, 12 bytes each, and the keys of two layers.
    pub max_bytes: u64,
    /// Threads; the result does not depend on it.
    pub threads: usize,
}

impl Default for Limits {
    /// A million states on one thread.
    fn default() -> Self {
        Self { max_states: 1_000_000, max_bytes: u64::MAX, threads: 1 }
    }
}

/// Why a search ended before every state was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    /// There are more states than it may visit.
    States,
    /// They take more memory than it may use.
    Memory,
    /// Somebody ended it.
    Time,
}

impl From<TryReserveError> for Spent {
    /// There is no more memory, whatever was thought to be left: the address space may be limited or in pieces.
    fn from(_: TryReserveError) -> Self {
        Self::Memory
    }
}

/// What all runs together do. A witness holds what was decided at each issue: a choice `W` of the
/// system, or what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extremes<W> {
    /// Largest makespan, cycles.
    pub worst: u64,
    /// Smallest makespan, cycles.
    pub best: u64,
    /// Distinct states.
    pub states: u64,
    /// A worst run.
    pub worst_witness: Vec<W>,
    /// A best run.
    pub best_witness: Vec<W>,
}

impl<W> Extremes<W> {
    /// The same with witnesses read differently.
    pub fn map_witnesses<V>(self, read: impl Fn(&[W]) -> Vec<V>) -> Extremes<V> {
        Extremes {
            worst: self.worst,
            best: self.best,
            states: self.states,
            worst_witness: read(&self.worst_witness),
            best_witness: read(&self.best_witness),
        }
    }
}

/// The search ended before every state was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfFuel {
    /// Distinct states seen.
    pub states: u64,
    /// Issues up to which every run was followed.
    pub issues: usize,
    /// What was missing.
    pub spent: Spent,
}

/// An issue: the state it leads to and the times.
#[derive(Clone, Copy, Debug)]
struct Edge {
    /// Index in the next layer.
    to: u32,
    elapsed: u16,
    done: u16,
    choice: u16,
}

/// Edges of a layer, by state.
#[derive(Debug, Default)]
struct Edges {
    /// First edge of each state, and the end of the last.
    starts: Vec<u32>,
    edges: Vec<Edge>,
}

impl Edges {
    fn of(&self, state: usize) -> &[Edge] {
        &self.edges[self.starts[state] as usize..self.starts[state + 1] as usize]
    }

    fn states(&self) -> usize {
        self.starts.len() - 1
    }

    /// Bytes, with those of one value for each state.
    fn bytes(&self) -> usize {
        self.starts.capacity() * (size_of::<u32>() + size_of::<u64>())
            + self.edges.capacity() * size_of::<Edge>()
    }
}

/// What one thread found: keys per shard, and edges that name shard and place in its list.
#[derive(Debug, Default)]
struct Found {
    keys: Vec<u16>,
    /// Per shard: (hash, start in `keys`, length).
    lists: Vec<Vec<(u64, u32, u16)>>,
    /// Edges with `to` = place in the shard's list, and the shard.
    edges: Vec<(Edge, u8)>,
    per_state: Vec<u16>,
}

impl Found {
    fn bytes(&self) -> usize {
        let lists: usize = self.lists.iter().map(|list| list.capacity() * size_of::<(u64, u32, u16)>()).sum();
        lists + self.keys.capacity() * size_of::<u16>() + self.edges.capacity() * size_of::<(Edge, u8)>()
    }
}

/// Issues, about, from states expanded before what they lead to is merged: bounds the memory for
/// duplicates.
const BATCH: usize = 1 << 19;
/// Batches with fewer are not worth a second thread.
const PARALLEL_FROM: usize = 1 << 12;
/// Issues out of a layer, and words of keys in a shard, are numbered in 32 bits.
const MOST: usize = 1 << 31;

/// Searches all runs of a system. `watch` hears of every layer: issues done, states so far.
///
/// # Errors
/// If the fuel does not last.
pub fn search_system<S: System>(
    system: &S,
    limits: Limits,
    watch: &Watch,
) -> Result<Extremes<u16>, OutOfFuel> {
    let mut layer: Vec<Shard> = (0..SHARDS).map(|_| Shard::default()).collect();
    let mut key = Vec::new();
    system.encode(&system.start(), &mut key);
    let start_hash = hash(&key);
    let out = |states, issues| move |spent: Spent| OutOfFuel { states, issues, spent };
    layer[shard_of(start_hash)].insert(start_hash, &key).map_err(|error| out(0, 0)(error.into()))?;
    let mut states = 1u64;
    let mut graph: Vec<Edges> = Vec::new();
    for issues in 0..system.issues() {
        let before = Before { states, bytes: graph.iter().map(Edges::bytes).sum() };
        let (edges, next) = expand(system, &layer, limits, &before, watch).map_err(out(states, issues))?;
        states += next.iter().map(|shard| shard.len() as u64).sum::<u64>();
        graph.push(edges);
        layer = next;
        watch.searched(issues as u64 + 1, states);
    }
    let (worst, worst_values) = backwards(&graph, u64::max, 0);
    let worst_witness = walk(&graph, &worst_values);
    drop(worst_values);
    let (best, best_values) = backwards(&graph, u64::min, u64::MAX);
    let best_witness = walk(&graph, &best_values);
    Ok(Extremes { worst, best, states, worst_witness, best_witness })
}

/// The layers before the one being expanded.
struct Before {
    states: u64,
    bytes: usize,
}

/// The next layer and the edges to it.
///
/// # Errors
/// If the fuel does not last.
fn expand<S: System>(
    system: &S,
    layer: &[Shard],
    limits: Limits,
    before: &Before,
    watch: &Watch,
) -> Result<(Edges, Vec<Shard>), Spent> {
    let sizes: Vec<usize> = layer.iter().map(Shard::len).collect();
    let total: usize = sizes.iter().sum();
    let mut next: Vec<Shard> = (0..SHARDS).map(|_| Shard::default()).collect();
    let mut edges = Edges { starts: vec![0], edges: Vec::new() };
    // edges name a shard and an index in it until the sizes of all shards are known
    let mut shards_of_edges: Vec<u8> = Vec::new();
    let known = before.bytes + layer.iter().map(Shard::bytes).sum::<usize>();
    let choices = system.most_choices().max(1);
    let mut from = 0;
    while from < total {
        let to = (from + (BATCH / choices).max(1)).min(total);
        let threads =
            if (to - from).saturating_mul(choices) < PARALLEL_FROM { 1 } else { limits.threads.max(1) };
        let found = in_chunks(from..to, threads, |range| follow(system, layer, &sizes, range));
        let found = found.into_iter().collect::<Result<Vec<Found>, TryReserveError>>()?;
        let places = merge(&found, &mut next, threads)?;
        edges.starts.try_reserve(found.iter().map(|chunk| chunk.per_state.len()).sum())?;
        let issues = found.iter().map(|chunk| chunk.edges.len()).sum();
        edges.edges.try_reserve(issues)?;
        shards_of_edges.try_reserve(issues)?;
        for (chunk, places) in found.iter().zip(&places) {
            for &count in &chunk.per_state {
                let end = edges.starts.last().copied().unwrap_or(0) + u32::from(count);
                edges.starts.push(end);
            }
            for &(edge, shard) in &chunk.edges {
                edges.edges.push(Edge { to: places[usize::from(shard)][edge.to as usize], ..edge });
                shards_of_edges.push(shard);
            }
        }
        let seen: u64 = before.states + next.iter().map(|shard| shard.len() as u64).sum::<u64>();
        let of_next = next.iter().map(Shard::bytes).chain(found.iter().map(Found::bytes)).sum::<usize>();
        let bytes = known + of_next + edges.bytes() + shards_of_edges.capacity();
        if watch.is_stopped() {
            return Err(Spent::Time);
        }
        if seen > limits.max_states {
            return Err(Spent::States);
        }
        if bytes as u64 > limits.max_bytes
            || edges.edges.len() > MOST
            || next.iter().any(|shard| shard.words() > MOST)
        {
            return Err(Spent::Memory);
        }
        from = to;
    }
    let mut bases = [0u32; SHARDS];
    for shard in 1..SHARDS {
        bases[shard] = bases[shard - 1] + next[shard - 1].len() as u32;
    }
    for (edge, shard) in edges.edges.iter_mut().zip(&shards_of_edges) {
        edge.to += bases[usize::from(*shard)];
    }
    Ok((edges, next))
}

/// Splits a range among threads; the results are in the order of the range.
fn in_chunks<T: Send>(
    range: Range<usize>,
    threads: usize,
    work: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    if threads <= 1 {
        return vec![work(range)];
    }
    let size = range.len().div_ceil(threads);
    let part = |i: usize| (range.start + i * size).min(range.end);
    let work = &work;
    crossbeam::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|i| part(i)..part(i + 1))
            .map(|range| scope.spawn(move |_| work(range)))
            .collect();
        handles.into_iter().map(|handle| handle.join().expect("a search thread panicked")).collect()
    })
    .expect("a search thread panicked")
}

/// Issues every choice of the states with these numbers.
///
/// # Errors
/// If there is no memory for what is found.
fn follow<S: System>(
    system: &S,
    layer: &[Shard],
    sizes: &[usize],
    range: Range<usize>,
) -> Result<Found, TryReserveError> {
    let mut found = Found { lists: vec![Vec::new(); SHARDS], ..Found::default() };
    let mut state = system.start();
    let mut next = state.clone();
    let mut key = Vec::new();
    let mut choices = Vec::new();
    let mut shard = 0;
    let mut base = 0;
    found.per_state.try_reserve(range.len())?;
    for number in range {
        while number - base >= sizes[shard] {
            base += sizes[shard];
            shard += 1;
        }
        system.decode(layer[shard].key(number - base), &mut state);
        choices.clear();
        system.choices(&state, &mut choices);
        found.edges.try_reserve(choices.len())?;
        for &choice in &choices {
            next.clone_from(&state);
            let outcome = system.issue(&mut next, choice);
            system.encode(&next, &mut key);
            let hash = hash(&key);
            let target = shard_of(hash);
            let list = &mut found.lists[target];
            let edge = Edge { to: list.len() as u32, elapsed: outcome.elapsed, done: outcome.done, choice };
            list.try_reserve(1)?;
            list.push((hash, found.keys.len() as u32, key.len() as u16));
            found.keys.try_reserve(key.len())?;
            found.keys.extend_from_slice(&key);
            found.edges.push((edge, target as u8));
        }
        found.per_state.push(choices.len() as u16);
    }
    Ok(found)
}

/// Index in the shard of each listed key, by chunk and shard.
type Places = Vec<Vec<Vec<u32>>>;

/// Enters what the threads found into the next layer.
///
/// # Errors
/// If there is no memory for it.
fn merge(found: &[Found], next: &mut [Shard], threads: usize) -> Result<Places, TryReserveError> {
    type OfShard = Result<Vec<Vec<u32>>, TryReserveError>;
    let enter = |(shard, target): (usize, &mut Shard)| -> OfShard {
        let of_chunk = |chunk: &Found, target: &mut Shard| {
            let list = &chunk.lists[shard];
            let mut places = Vec::new();
            places.try_reserve_exact(list.len())?;
            for &(hash, start, len) in list {
                let key = &chunk.keys[start as usize..start as usize + usize::from(len)];
                places.push(target.insert(hash, key)?);
            }
            Ok(places)
        };
        found.iter().map(|chunk| of_chunk(chunk, target)).collect()
    };
    let by_shard: Vec<OfShard> = if threads <= 1 {
        next.iter_mut().enumerate().map(enter).collect()
    } else {
        let size = SHARDS.div_ceil(threads);
        let enter = &enter;
        let parts: Vec<Vec<OfShard>> = crossbeam::thread::scope(|scope| {
            let handles: Vec<_> = next
                .chunks_mut(size)
                .enumerate()
                .map(|(part, targets)| {
                    let numbered =
                        targets.iter_mut().enumerate().map(move |(i, target)| (part * size + i, target));
                    scope.spawn(move |_| numbered.map(enter).collect())
                })
                .collect();
            handles.into_iter().map(|handle| handle.join().expect("a search thread panicked")).collect()
        })
        .expect("a search thread panicked");
        parts.into_iter().flatten().collect()
    };
    let mut by_shard = by_shard.into_iter().collect::<Result<Vec<Vec<Vec<u32>>>, TryReserveError>>()?;
    Ok((0..found.len())
        .map(|chunk| by_shard.iter_mut().map(|shard| std::mem::take(&mut shard[chunk])).collect())
        .collect())
}

/// The value of every state, layer by layer from the end, and that of the first.
fn backwards(graph: &[Edges], choose: fn(u64, u64) -> u64, neutral: u64) -> (u64, Vec<Vec<u64>>) {
    let mut values: Vec<Vec<u64>> = vec![Vec::new(); graph.len()];
    for index in (0..graph.len()).rev() {
        let later = values.get(index + 1).map_or(&[][..], Vec::as_slice);
        let of_state =
            |state| graph[index].of(state).iter().map(|edge| value(edge, later)).fold(neutral, choose);
        let of_layer = (0..graph[index].states()).map(of_state).collect();
        values[index] = of_layer;
    }
    (values.first().and_then(|layer| layer.first()).copied().unwrap_or(0), values)
}

/// What an edge leads to: the later of the instruction's own result and the rest.
fn value(edge: &Edge, later: &[u64]) -> u64 {
    let rest = later.get(edge.to as usize).map_or(0, |rest| rest + u64::from(edge.elapsed));
    rest.max(u64::from(edge.done))
}

/// The choices of a run whose value is that of the first state. Once an issue decides the
/// makespan, any edge that keeps the value of its own state will do; the first is taken.
fn walk(graph: &[Edges], values: &[Vec<u64>]) -> Vec<u16> {
    let mut number = 0;
    let mut chosen = Vec::with_capacity(graph.len());
    for (depth, edges) in graph.iter().enumerate() {
        let later = values.get(depth + 1).map_or(&[][..], Vec::as_slice);
        let wanted = values[depth][number];
        let Some(edge) = edges.of(number).iter().find(|edge| value(edge, later) == wanted) else { break };
        chosen.push(edge.choice);
        number = edge.to as usize;
    }
    chosen
}
