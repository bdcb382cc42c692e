//! The search: layer by layer forwards over distinct states, then backwards over the edges.
//!
//! Every edge issues one instruction, so the state graph is layered by the number of issues. The
//! value of an edge is the later of two times: the `done` of the issued instruction, and the
//! remaining makespan of the next state. The remaining makespan of a state is the maximum (worst
//! case) or minimum (best case) of the values of its edges. Earlier completion times do not change
//! which choice is worst or best, because the maximum with a constant is monotone. One number per
//! state and direction is therefore sufficient, and past completion times are not part of a state.

use std::collections::TryReserveError;
use std::ops::Range;

use super::layer::{SHARDS, Shard, hash, shard_of};
use super::model::Outcome;
use warpbound_core::base::ProgressMonitor;

/// A system to search: its states, the choices in each state, and the effect of an issue.
pub trait System: Sync {
    /// A state in its unpacked form.
    type State: Clone;

    /// Returns the number of instructions that every schedule issues.
    fn issues(&self) -> usize;
    /// Returns the state before the first cycle, in normal form.
    fn start(&self) -> Self::State;
    /// Returns the largest number of choices in a state.
    fn most_choices(&self) -> usize;
    /// Adds the choices of a state; there are none only when everything has issued.
    fn choices(&self, state: &Self::State, choices: &mut Vec<u16>);
    /// Issues an instruction, advances time to the next decision, and brings the state into normal
    /// form.
    fn issue(&self, state: &mut Self::State, choice: u16) -> Outcome;
    /// Writes a state in normal form as a key. States with equal keys have equal futures.
    fn encode(&self, state: &Self::State, key: &mut Vec<u16>);
    /// Reads a key back into a state of this system.
    fn decode(&self, key: &[u16], state: &mut Self::State);
}

/// The limits of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest number of states to visit.
    pub max_states: u64,
    /// The largest number of bytes that states and the issues between them may take. The size of a
    /// state depends on the block. The search stores the keys of two layers, and 12 bytes for each
    /// issue from every state.
    pub max_bytes: u64,
    /// The number of threads; the result does not depend on it.
    pub threads: usize,
}

impl Default for Limits {
    /// Returns limits of a million states on one thread.
    fn default() -> Self {
        Self { max_states: 1_000_000, max_bytes: u64::MAX, threads: 1 }
    }
}

/// The reason why a search ended before every state was visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    /// There are more states than it may visit.
    States,
    /// The states take more memory than the search may use.
    Memory,
    /// The search was stopped.
    Time,
}

impl From<TryReserveError> for Spent {
    /// Reports that an allocation failed. This can happen below the limit, because the address
    /// space may be limited or fragmented.
    fn from(_: TryReserveError) -> Self {
        Self::Memory
    }
}

/// The extremes over all runs. A witness holds the decision at each issue: a choice `W` of the
/// system, or the meaning of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extremes<W> {
    /// The largest makespan, in cycles.
    pub worst: u64,
    /// The smallest makespan, in cycles.
    pub best: u64,
    /// The number of distinct states.
    pub states: u64,
    /// A run with the largest makespan.
    pub worst_witness: Vec<W>,
    /// A run with the smallest makespan.
    pub best_witness: Vec<W>,
}

impl<W> Extremes<W> {
    /// Returns the same extremes with converted witnesses.
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

/// The progress of a search that ended before every state was visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfFuel {
    /// The number of distinct states visited.
    pub states: u64,
    /// The number of issues up to which every run was followed.
    pub issues: usize,
    /// The resource that was exhausted.
    pub spent: Spent,
}

/// An issue: the state that it leads to, and the times.
#[derive(Clone, Copy, Debug)]
struct Edge {
    /// The index of the state in the next layer.
    to: u32,
    elapsed: u16,
    done: u16,
    choice: u16,
}

/// The edges of a layer, by state.
#[derive(Debug, Default)]
struct Edges {
    /// The index of the first edge of each state, and the end of the last.
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

    /// Returns the size in bytes, including one value for each state.
    fn bytes(&self) -> usize {
        self.starts.capacity() * (size_of::<u32>() + size_of::<u64>())
            + self.edges.capacity() * size_of::<Edge>()
    }
}

/// The findings of one thread: keys per shard, and edges that name a shard and a position in its
/// list.
#[derive(Debug, Default)]
struct Found {
    keys: Vec<u16>,
    /// The hash, the start in `keys` and the length of each key, per shard.
    lists: Vec<Vec<(u64, u32, u16)>>,
    /// The edges, with `to` as the position in the shard's list, and the shard.
    edges: Vec<(Edge, u8)>,
    per_state: Vec<u16>,
}

impl Found {
    fn bytes(&self) -> usize {
        let lists: usize = self.lists.iter().map(|list| list.capacity() * size_of::<(u64, u32, u16)>()).sum();
        lists + self.keys.capacity() * size_of::<u16>() + self.edges.capacity() * size_of::<(Edge, u8)>()
    }
}

/// The approximate number of issues from states that are expanded before the results are merged. It
/// limits the memory for duplicates.
const BATCH: usize = 1 << 19;
/// The number of issues from which a batch is worth several threads.
const PARALLEL_FROM: usize = 1 << 12;
/// The upper limit of the issues from the states of a layer, and of the words of keys in a shard,
/// both of which are numbered in 32 bits.
const MOST: usize = 1 << 31;

/// Searches all runs of a system. `monitor` is notified after every layer of the number of issues
/// and states so far.
///
/// # Errors
/// Returns an error if the search runs out of fuel.
pub fn search_system<S: System>(
    system: &S,
    limits: Limits,
    monitor: &ProgressMonitor,
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
        let (edges, next) = expand(system, &layer, limits, &before, monitor).map_err(out(states, issues))?;
        states += next.iter().map(|shard| shard.len() as u64).sum::<u64>();
        graph.push(edges);
        layer = next;
        monitor.searched(issues as u64 + 1, states);
    }
    let (worst, worst_values) = backwards(&graph, u64::max, 0);
    let worst_witness = walk(&graph, &worst_values);
    drop(worst_values);
    let (best, best_values) = backwards(&graph, u64::min, u64::MAX);
    let best_witness = walk(&graph, &best_values);
    Ok(Extremes { worst, best, states, worst_witness, best_witness })
}

/// The size of the layers before the one being expanded.
struct Before {
    states: u64,
    bytes: usize,
}

/// Returns the next layer and the edges to it.
///
/// # Errors
/// Returns an error if the search runs out of fuel.
fn expand<S: System>(
    system: &S,
    layer: &[Shard],
    limits: Limits,
    before: &Before,
    monitor: &ProgressMonitor,
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
        if monitor.is_stopped() {
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
/// Returns an error if the memory for the results cannot be allocated.
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

/// The index in the shard of each listed key, by chunk and shard.
type Places = Vec<Vec<Vec<u32>>>;

/// Inserts the findings of the threads into the next layer.
///
/// # Errors
/// Returns an error if the memory cannot be allocated.
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

/// Returns the value of the first state, and the values of all states by layer, computed from the
/// last layer backwards.
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

/// Returns the value of an edge: the later of the instruction's own result and the rest of the run.
fn value(edge: &Edge, later: &[u64]) -> u64 {
    let rest = later.get(edge.to as usize).map_or(0, |rest| rest + u64::from(edge.elapsed));
    rest.max(u64::from(edge.done))
}

/// Returns the choices of a run whose value is that of the first state. Once an issue has
/// determined the makespan, any edge that keeps the value of its own state is sufficient; the first
/// one is taken.
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
