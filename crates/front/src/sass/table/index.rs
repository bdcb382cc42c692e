//! Which forms a word can have.

use super::{Field, Op};

/// Returns the possible forms for each value of the upper byte of the opcode.
pub(super) fn by_top(ops: &[Op], opcode: &Field) -> Vec<Vec<(u16, u8)>> {
    let top = opcode.width() - 8;
    let mut lists = vec![Vec::new(); 256];
    for (byte, list) in lists.iter_mut().enumerate() {
        for (index, op) in ops.iter().enumerate() {
            for (number, form) in op.forms.iter().enumerate() {
                let [bits, mask] = [form.bits, form.mask].map(|word| (opcode.get(word) >> top) as usize);
                if byte & mask == bits {
                    list.push((index as u16, number as u8));
                }
            }
        }
        list.sort_by_key(|&(op, form)| {
            let op = &ops[op as usize];
            std::cmp::Reverse((!op.when.is_empty(), op.forms[form as usize].mask.count_ones()))
        });
    }
    lists
}

/// Returns pairs of forms that match the same word and have the same number of fixed bits.
pub(super) fn alike(ops: &[Op], by_top: &[Vec<(u16, u8)>]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for list in by_top {
        for (at, &(op, form)) in list.iter().enumerate() {
            for &(other, second) in &list[at + 1..] {
                let (a, b) =
                    (&ops[op as usize].forms[form as usize], &ops[other as usize].forms[second as usize]);
                let together = a.mask & b.mask;
                // entries with conditions come first
                let conditional = |index: u16| !ops[index as usize].when.is_empty();
                let same = a.bits & together == b.bits & together && conditional(op) == conditional(other);
                if same
                    && a.mask.count_ones() == b.mask.count_ones()
                    && !found.contains(&(op as usize, other as usize))
                {
                    found.push((op as usize, other as usize));
                }
            }
        }
    }
    found
}
