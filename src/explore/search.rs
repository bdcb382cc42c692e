//! The search: layer by layer forwards over distinct states, then backwards over the edges.
//!
//! Every edge issues one instruction, so the state graph is layered by the number of issues. The
//! makespan still to come from a state is the maximum (worst) or minimum (best) over its edges of
//! the later of the issued instruction's `done` and what the next state still needs; what was done
//! before does not change which choice is worst or best, because the maximum with a constant is
//! monotone. So one number per state and direction is enough, and past completion times are no
//! part of a state.

use super::layer::{SHARDS, Shard, hash, shard_of};
use super::model::{Model, State};

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// States to visit at most; memory grows with it.
    pub max_states: u64,
    /// Threads; the result does not depend on it.
    pub threads: usize,
}

/// What all schedules together do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extremes {
    /// Largest makespan, cycles.
    pub worst: u64,
    /// Smallest makespan, cycles.
    pub best: u64,
    /// Distinct states.
    pub states: u64,
    /// The warp chosen at each issue of a worst schedule.
    pub worst_witness: Vec<usize>,
    /// The warp chosen at each issue of a best schedule.
    pub best_witness: Vec<usize>,
}

/// The search ended before every state was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfFuel {
    /// Distinct states seen.
    pub states: u64,
    /// Issues up to which every schedule was followed.
    pub issues: usize,
}

/// An issue: the state it leads to and the times.
#[derive(Clone, Copy, Debug)]
struct Edge {
    /// Index in the next layer.
    to: u32,
    elapsed: u16,
    done: u16,
    /// Position of the issuing warp in the state.
    position: u8,
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
}

/// What one thread found: keys per shard, and edges that name shard and place in the list.
#[derive(Debug, Default)]
struct Found {
    keys: Vec<u16>,
    /// Per shard: (hash, start in `keys`, length).
    lists: Vec<Vec<(u64, u32, u16)>>,
    /// Edges with `to` = place in the shard's list, and the shard.
    edges: Vec<(Edge, u8)>,
    per_state: Vec<u8>,
}

/// States a thread expands before the next layer is merged: bounds the memory for duplicates.
const BATCH: usize = 1 << 17;
/// Layers smaller than this are not worth a second thread.
const PARALLEL_FROM: usize = 2048;

/// Searches all work-conserving schedules.
///
/// # Errors
/// If the fuel does not last.
pub fn search(model: &Model, limits: Limits, progress: &dyn Fn(u64, usize)) -> Result<Extremes, OutOfFuel> {
    let mut layer: Vec<Shard> = (0..SHARDS).map(|_| Shard::default()).collect();
    let mut scratch = Scratch::new(model);
    let mut start = model.start();
    model.normalise_unordered(&mut start);
    model.encode(&start, &mut scratch.key);
    let start_hash = hash(&scratch.key);
    layer[shard_of(start_hash)].insert(start_hash, &scratch.key);
    let mut states = 1u64;
    let mut graph: Vec<Edges> = Vec::new();
    for issues in 0..model.issues() {
        let (edges, next) = expand(model, &layer, limits, states).ok_or(OutOfFuel { states, issues })?;
        states += next.iter().map(|shard| shard.len() as u64).sum::<u64>();
        graph.push(edges);
        layer = next;
        progress(states, issues + 1);
    }
    let (worst, worst_values) = backwards(&graph, u64::max, 0);
    let (best, best_values) = backwards(&graph, u64::min, u64::MAX);
    Ok(Extremes {
        worst,
        best,
        states,
        worst_witness: walk(model, &graph, &worst_values),
        best_witness: walk(model, &graph, &best_values),
    })
}

struct Scratch {
    state: State,
    next: State,
    key: Vec<u16>,
}

impl Scratch {
    fn new(model: &Model) -> Self {
        Self { state: model.start(), next: model.start(), key: Vec::new() }
    }
}

/// The next layer and the edges to it; `None` if the fuel does not last.
fn expand(model: &Model, layer: &[Shard], limits: Limits, states: u64) -> Option<(Edges, Vec<Shard>)> {
    let sizes: Vec<usize> = layer.iter().map(Shard::len).collect();
    let total: usize = sizes.iter().sum();
    let mut next: Vec<Shard> = (0..SHARDS).map(|_| Shard::default()).collect();
    let mut edges = Edges { starts: vec![0], edges: Vec::new() };
    // edges name a shard and an index in it until the sizes of all shards are known
    let mut shards_of_edges: Vec<u8> = Vec::new();
    let mut from = 0;
    while from < total {
        let to = (from + BATCH).min(total);
        let threads = if to - from < PARALLEL_FROM { 1 } else { limits.threads.max(1) };
        let found = in_chunks(from, to, threads, |range| follow(model, layer, &sizes, range));
        let places = merge(&found, &mut next, threads);
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
        let seen: u64 = states + next.iter().map(|shard| shard.len() as u64).sum::<u64>();
        if seen > limits.max_states {
            return None;
        }
        from = to;
    }
    let mut bases = vec![0u32; SHARDS];
    for shard in 1..SHARDS {
        bases[shard] = bases[shard - 1] + next[shard - 1].len() as u32;
    }
    for (edge, shard) in edges.edges.iter_mut().zip(&shards_of_edges) {
        edge.to += bases[usize::from(*shard)];
    }
    Some((edges, next))
}

/// Splits a range among threads; the results are in the order of the range.
fn in_chunks<T: Send>(
    from: usize,
    to: usize,
    threads: usize,
    work: impl Fn(std::ops::Range<usize>) -> T + Sync,
) -> Vec<T> {
    if threads <= 1 {
        return vec![work(from..to)];
    }
    let size = (to - from).div_ceil(threads);
    let work = &work;
    let result = crossbeam::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|i| (from + i * size).min(to)..(from + (i + 1) * size).min(to))
            .map(|range| scope.spawn(move |_| work(range)))
            .collect();
        handles.into_iter().map(|handle| handle.join().expect("a search thread panicked")).collect()
    });
    result.expect("a search thread panicked")
}

/// Issues every choice of the states with these numbers.
fn follow(model: &Model, layer: &[Shard], sizes: &[usize], range: std::ops::Range<usize>) -> Found {
    let mut found = Found { lists: vec![Vec::new(); SHARDS], ..Found::default() };
    let mut scratch = Scratch::new(model);
    let mut shard = 0;
    let mut base = 0;
    for number in range {
        while number - base >= sizes[shard] {
            base += sizes[shard];
            shard += 1;
        }
        model.decode(layer[shard].key(number - base), &mut scratch.state);
        let mut count = 0;
        for position in model.choices(&scratch.state) {
            scratch.next.clone_from(&scratch.state);
            let outcome = model.issue(&mut scratch.next, position);
            model.normalise_unordered(&mut scratch.next);
            model.encode(&scratch.next, &mut scratch.key);
            let hash = hash(&scratch.key);
            let target = shard_of(hash);
            let list = &mut found.lists[target];
            let place = list.len() as u32;
            list.push((hash, found.keys.len() as u32, scratch.key.len() as u16));
            found.keys.extend_from_slice(&scratch.key);
            let edge =
                Edge { to: place, elapsed: outcome.elapsed, done: outcome.done, position: position as u8 };
            found.edges.push((edge, target as u8));
            count += 1;
        }
        found.per_state.push(count);
    }
    found
}

/// Enters what the threads found into the next layer; gives per chunk and shard the index of each
/// listed key.
fn merge(found: &[Found], next: &mut [Shard], threads: usize) -> Vec<Vec<Vec<u32>>> {
    let enter = |shard: usize, target: &mut Shard| -> Vec<Vec<u32>> {
        let of_chunk = |chunk: &Found| {
            let insert = |&(hash, start, len): &(u64, u32, u16)| {
                target_insert(target, hash, &chunk.keys[start as usize..start as usize + usize::from(len)])
            };
            chunk.lists[shard].iter().map(insert).collect()
        };
        found.iter().map(of_chunk).collect()
    };
    // by shard, then chunk
    let mut by_shard: Vec<Vec<Vec<u32>>> = Vec::with_capacity(SHARDS);
    if threads <= 1 {
        by_shard.extend(next.iter_mut().enumerate().map(|(shard, target)| enter(shard, target)));
    } else {
        let size = SHARDS.div_ceil(threads);
        let enter = &enter;
        let parts: Vec<Vec<Vec<Vec<u32>>>> = crossbeam::thread::scope(|scope| {
            let handles: Vec<_> = next
                .chunks_mut(size)
                .enumerate()
                .map(|(part, targets)| {
                    scope.spawn(move |_| {
                        targets
                            .iter_mut()
                            .enumerate()
                            .map(|(i, target)| enter(part * size + i, target))
                            .collect()
                    })
                })
                .collect();
            handles.into_iter().map(|handle| handle.join().expect("a search thread panicked")).collect()
        })
        .expect("a search thread panicked");
        by_shard.extend(parts.into_iter().flatten());
    }
    // turned round: by chunk, then shard
    (0..found.len())
        .map(|chunk| by_shard.iter_mut().map(|shard| std::mem::take(&mut shard[chunk])).collect())
        .collect()
}

fn target_insert(target: &mut Shard, hash: u64, key: &[u16]) -> u32 {
    target.insert(hash, key)
}

/// The value of every state, layer by layer from the end, and that of the first.
fn backwards(graph: &[Edges], choose: fn(u64, u64) -> u64, neutral: u64) -> (u64, Vec<Vec<u64>>) {
    let mut values: Vec<Vec<u64>> = vec![Vec::new(); graph.len()];
    let mut later: &[u64] = &[];
    for (index, edges) in graph.iter().enumerate().rev() {
        let of_edge = |edge: &Edge| {
            let rest = later.get(edge.to as usize).map_or(0, |rest| rest + u64::from(edge.elapsed));
            rest.max(u64::from(edge.done))
        };
        let of_state = |state: usize| edges.of(state).iter().map(of_edge).fold(neutral, choose);
        values[index] = (0..edges.starts.len() - 1).map(of_state).collect();
        later = &values[index];
    }
    (values.first().and_then(|layer| layer.first()).copied().unwrap_or(0), values)
}

/// The choices of a schedule whose value is that of the first state, as warp ids.
fn walk(model: &Model, graph: &[Edges], values: &[Vec<u64>]) -> Vec<usize> {
    let mut state = model.start();
    // positions of the normal form to warp ids
    let mut who = model.start_order();
    let order = model.normalise(&mut state);
    who = order.iter().map(|&from| who[from]).collect();
    let mut chosen = Vec::new();
    let mut number = 0;
    for (depth, edges) in graph.iter().enumerate() {
        let value = values[depth][number];
        let fits = |edge: &&Edge| {
            let rest =
                values.get(depth + 1).map_or(0, |later| later[edge.to as usize] + u64::from(edge.elapsed));
            rest.max(u64::from(edge.done)) == value
        };
        // once an issue decides the makespan, what follows may do anything that is not worse; the
        // first edge that keeps the value is as good as any
        let Some(edge) = edges.of(number).iter().find(fits) else { break };
        chosen.push(who[usize::from(edge.position)]);
        model.issue(&mut state, usize::from(edge.position));
        let order = model.normalise(&mut state);
        who = order.iter().map(|&from| who[from]).collect();
        number = edge.to as usize;
    }
    chosen
}
