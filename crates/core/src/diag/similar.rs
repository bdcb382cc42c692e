//! Suggestions for misspelled names.

/// The maximum number of letters of a word for which similar names are searched.
const LONGEST: usize = 200;

/// Returns the known name that `word` is most likely a misspelling of.
///
/// An edit is a letter that is missing, added, replaced, or swapped with its neighbour; case is
/// ignored. A name is similar if it differs by at most about one edit per three letters of the
/// longer word. If there is none and the word has at least three letters, the result is the
/// shortest name that contains the word. A word of more than 200 letters has no suggestion, since
/// the time of a comparison grows with the product of both lengths.
pub fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = word.chars().take(LONGEST + 1).count();
    if letters > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    let names: Vec<(String, &str)> = known.into_iter().map(|name| (name.to_lowercase(), name)).collect();
    let similar = names.iter().filter_map(|(lower, name)| {
        let length = lower.chars().count();
        let most = ((letters.max(length) + 1) / 3).max(1);
        if letters.abs_diff(length) > most {
            return None; // the difference in length is a lower bound of the number of edits
        }
        let edits = strsim::damerau_levenshtein(&word, lower);
        // a single letter is one edit away from every other letter
        let near = edits <= most && edits < letters.max(length);
        near.then_some((edits, *name))
    });
    if let Some((_, name)) = similar.min() {
        return Some(name);
    }
    let containing = names.iter().filter(|(lower, _)| letters > 2 && lower.contains(&word));
    containing.map(|(lower, name)| (lower.len(), *name)).min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, closest};

    #[test]
    fn a_long_word_has_no_suggestion() {
        let name = "x".repeat(LONGEST);
        let known = [name.as_str()];
        assert_eq!(closest(&name[1..], known), Some(known[0]));
        // this must not take time proportional to the product of the lengths
        assert_eq!(closest(&"x".repeat(50_000_000), known), None);
    }

    #[test]
    fn misspelled_names_are_found_and_distant_ones_are_not() {
        let policies = ["gto", "lrr", "srr", "gsrr", "oldest", "two-level"];
        let machines = ["ecrts25-orin", "ecrts25-orin-banks", "rtx3070", "accelsim-sm1"];
        for (word, known, meant) in [
            ("gmme", &["gmem", "int"][..], Some("gmem")),
            ("zzzz", &["gmem", "int"], None),
            ("a", &["b", "c"], None),
            ("gt", &policies, Some("gto")),
            ("GTO", &policies, Some("gto")),
            ("lrrr", &policies, Some("lrr")),
            ("twolevel", &policies, Some("two-level")),
            ("foo", &policies, None),
            ("fifo", &policies, None),
            ("ecrts-orin", &machines, Some("ecrts25-orin")),
            ("orin", &machines, Some("ecrts25-orin")),
            ("rtx3060", &machines, Some("rtx3070")),
            ("sm1", &machines, Some("accelsim-sm1")),
            ("hopper", &machines, None),
            ("", &machines, None),
        ] {
            assert_eq!(closest(word, known.iter().copied()), meant, "{word}");
        }
    }
}
