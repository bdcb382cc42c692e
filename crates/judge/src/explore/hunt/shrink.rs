//! Reduces a witness until nothing can be removed from it without losing the violation.

use super::instance::{Instance, Kind, Together, UnitTime};

/// Shrinks an instance that `violates` until no single step keeps the violation. The steps remove
/// warps, instructions, reads or units, lower times (alone, in pairs or all together), or remove an
/// instruction together with another one or with a change of an initiation interval. Each accepted
/// step makes [`Instance::size`] smaller, so this terminates. Also returns the number of instances
/// tried.
pub fn shrink(mut instance: Instance, mut violates: impl FnMut(&Instance) -> bool) -> (Instance, u64) {
    let mut tried = 0;
    loop {
        let mut smaller = None;
        steps(&instance, &mut |candidate| {
            debug_assert!(candidate.size() < instance.size());
            tried += 1;
            let found = violates(&candidate);
            if found {
                smaller = Some(candidate);
            }
            found
        });
        match smaller {
            Some(next) => instance = next,
            None => return (instance, tried),
        }
    }
}

/// Offers smaller instances, those with the largest reduction first, until `take` accepts one.
fn steps(from: &Instance, take: &mut dyn FnMut(Instance) -> bool) -> bool {
    fewer_warps(from, take)
        || fewer_instructions(from, take)
        || fewer_reads(from, take)
        || fewer_units(from, take)
        || lower_times(from, take)
        || fewer_instructions_and_more(from, take)
}

fn fewer_warps(from: &Instance, take: &mut dyn FnMut(Instance) -> bool) -> bool {
    if let Some(together) = from.together {
        return fewer_blocks(from, together, take);
    }
    if from.copies > 2 || (from.copies == 2 && from.codes.len() > 1) {
        let mut next = from.clone();
        next.copies -= 1;
        if take(next) {
            return true;
        }
    }
    from.codes.len() > 1
        && (0..from.codes.len()).any(|code| {
            let mut next = from.clone();
            next.codes.remove(code);
            take(next)
        })
}

/// Removes a block, or the same warp of every block.
fn fewer_blocks(from: &Instance, together: Together, take: &mut dyn FnMut(Instance) -> bool) -> bool {
    let warps = from.block_warps();
    let keeping = |blocks: usize, keeps: &dyn Fn(usize) -> bool| {
        let mut next = from.clone();
        next.together = Some(Together { blocks, ..together });
        if from.codes.len() == 1 {
            next.copies = (0..from.copies).filter(|&warp| keeps(warp)).count();
        } else {
            let mut warp = 0..;
            next.codes.retain(|_| keeps(warp.next().unwrap_or(0)));
        }
        next
    };
    let blocks = together.blocks;
    blocks > 1 && (0..blocks).any(|gone| take(keeping(blocks - 1, &|warp| warp / warps != gone)))
        || warps > 1 && (0..warps).any(|gone| take(keeping(blocks, &|warp| warp % warps != gone)))
}

/// Removes sequences of instructions, long ones first.
fn fewer_instructions(from: &Instance, take: &mut dyn FnMut(Instance) -> bool) -> bool {
    let longest = from.codes.iter().map(Vec::len).max().unwrap_or(0);
    let mut length = longest.next_power_of_two();
    while length > 0 {
        for code in 0..from.codes.len() {
            let mut start = 0;
            while start + length <= from.codes[code].len() {
                // reads of removed instructions are dropped, or replaced by what those instructions
                // read
                if length < from.codes[code].len()
                    && (take(without(from, code, start, length, false))
                        || take(without(from, code, start, length, true)))
                {
                    return true;
                }
                start += length;
            }
        }
        length /= 2;
    }
    false
}

/// Removes one instruction together with another change that is only effective in combination: the
/// removal of a second instruction, or a change of an initiation interval. The new interval is at
/// most the longest one of the instance.
fn fewer_instructions_and_more(from: &Instance, take: &mut dyn FnMut(Instance) -> bool) -> bool {
    let longest = from.units.iter().map(|unit| unit.init).max().unwrap_or(1);
    for code in 0..from.codes.len() {
        for at in 0..from.codes[code].len() {
            if from.codes[code].len() == 1 {
                break;
            }
            let once = without(from, code, at, 1, false);
            for other in code..once.codes.len() {
                let first = if other == code { at } else { 0 };
                for second in first..once.codes[other].len() {
                    if once.codes[other].len() > 1 && take(without(&once, other, second, 1, false)) {
                        return true;
                    }
                }
            }
            for unit in 0..once.units.len() {
                let init = once.units[unit].init;
                for other in [(init - 1).max(1), init.saturating_add(1), init / 2 + 1, init.saturating_mul(2)]
                {
                    let mut next = once.clone();
                    next.units[unit].init = other;
                    if other != init && other <= longest && take(next) {
                        return true;
                    }
                }
            }
        }
    }
    false
}

fn without(from: &Instance, code: usize, start: usize, length: usize, pass_on: bool) -> Instance {
    let mut next = from.clone();
    let gone = start..start + length;
    let old = &from.codes[code];
    for ins in &mut next.codes[code] {
        for read in &mut ins.reads {
            while let Some(at) = *read
                && gone.contains(&usize::from(at))
            {
                *read = if pass_on { old[usize::from(at)].reads[0] } else { None };
            }
            if let Some(at) = read
                && usize::from(*at) >= gone.end
            {
                *at -= length as u16;
            }
        }
        if ins.reads[0] == ins.reads[1] {
            ins.reads[1] = None;
        }
    }
    next.codes[code].drain(gone);
    next
}

fn fewer_reads(from: &Instance, take: &mut dyn FnMut(Instance) -> bool) -> bool {
    for (code, list) in from.codes.iter().enumerate() {
        for (at, ins) in list.iter().enumerate() {
            for read in 0..2 {
                if ins.reads[read].is_some() {
                    let mut next = from.clone();
                    next.codes[code][at].reads[read] = None;
                    if take(next) {
                        return true;
                    }
                }
            }
        }
    }
    false
}

/// Removes unused units, and moves the instructions of one unit to another.
fn fewer_units(from: &Instance, take: &mut dyn FnMut(Instance) -> bool) -> bool {
    for gone in (0..from.units.len()).rev() {
        if from.units.len() == 1 {
            return false;
        }
        for instead in 0..from.units.len() {
            if instead != gone && take(without_unit(from, gone, instead)) {
                return true;
            }
        }
    }
    false
}

fn without_unit(from: &Instance, gone: usize, instead: usize) -> Instance {
    let mut next = from.clone();
    next.units.remove(gone);
    for ins in next.codes.iter_mut().flatten() {
        if let Kind::On(unit) = &mut ins.kind {
            let mut to = usize::from(*unit);
            if to == gone {
                to = instead;
            }
            *unit = (to - usize::from(to > gone)) as u8;
        }
    }
    next
}

fn lower_times(from: &Instance, take: &mut dyn FnMut(Instance) -> bool) -> bool {
    let lower = |next: &mut Instance, chosen: &dyn Fn(usize) -> bool, by: &dyn Fn(UnitTime) -> UnitTime| {
        for (index, unit) in next.units.iter_mut().enumerate() {
            if chosen(index) {
                *unit = by(*unit);
            }
        }
    };
    let ways: [fn(UnitTime) -> UnitTime; 6] = [
        |t| UnitTime { init: (t.init / 2).max(1), lat: t.lat / 2, ..t },
        |t| UnitTime { lat: 0, ..t },
        |t| UnitTime { lat: t.lat / 2, ..t },
        |t| UnitTime { init: (t.init / 2).max(1), ..t },
        |t| UnitTime { init: (t.init - 1).max(1), ..t },
        |t| UnitTime { lat: t.lat.saturating_sub(1), ..t },
    ];
    let mut offer = |chosen: &dyn Fn(usize) -> bool, way: fn(UnitTime) -> UnitTime| {
        let mut next = from.clone();
        lower(&mut next, chosen, &way);
        next != *from && take(next)
    };
    for way in ways {
        if offer(&|_| true, way) {
            return true;
        }
        for unit in 0..from.units.len() {
            if offer(&|index| index == unit, way) {
                return true;
            }
        }
        for a in 0..from.units.len() {
            for b in 0..a {
                if offer(&|index| index == a || index == b, way) {
                    return true;
                }
            }
        }
    }
    false
}
