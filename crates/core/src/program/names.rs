//! Demangling of C++ names, and searching for a name by a part of it.

use std::fmt;

use cpp_demangle::{DemangleOptions, DemangleWrite, Symbol};

/// The maximum length of a name in bytes, mangled or not. Longer names are left as they are, since
/// substitutions can expand a short mangled name exponentially.
const LONGEST: usize = 4096;

/// Returns the C++ form of a mangled name, with the types of the parameters if it is a function;
/// `None` if the name is not mangled.
pub fn demangled(name: &str) -> Option<String> {
    demangled_with(name, DemangleOptions::new())
}

fn demangled_with(name: &str, options: DemangleOptions) -> Option<String> {
    struct Limited(String);

    impl DemangleWrite for Limited {
        fn write_string(&mut self, part: &str) -> fmt::Result {
            if self.0.len() + part.len() > LONGEST {
                return Err(fmt::Error);
            }
            self.0.push_str(part);
            Ok(())
        }
    }

    if !name.starts_with("_Z") || name.len() > LONGEST {
        return None;
    }
    let mut text = Limited(String::new());
    Symbol::new(name).ok()?.structured_demangle(&mut text, &options).ok()?;
    Some(text.0)
}

/// Returns the C++ name without parameters and return type: `scale` for `_Z5scalePff`,
/// `axpy<float>` for `void axpy<float>(..)`.
pub fn short(name: &str) -> String {
    let plain = DemangleOptions::new().no_params().no_return_type();
    demangled_with(name, plain).unwrap_or_else(|| name.to_owned())
}

/// Returns the types of a function's parameters, as far as its name contains them.
pub fn parameter_types(name: &str) -> Option<Vec<String>> {
    let full = demangled(name)?;
    let list = full.strip_suffix(')')?;
    // the parameter list is enclosed by the last pair of parentheses
    let mut depth = 0usize;
    let open = list.char_indices().rev().find(|(_, c)| {
        match c {
            ')' => depth += 1,
            '(' if depth == 0 => return true,
            '(' => depth -= 1,
            _ => {}
        }
        false
    })?;
    let mut types = vec![String::new()];
    let mut depth = 0usize;
    for c in list[open.0 + 1..].chars() {
        match c {
            '(' | '<' | '[' => depth += 1,
            ')' | '>' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                types.push(String::new());
                continue;
            }
            _ => {}
        }
        types.last_mut()?.push(c);
    }
    let trimmed: Vec<String> = types.iter().map(|ty| ty.trim().to_owned()).collect();
    if trimmed.iter().all(String::is_empty) { Some(Vec::new()) } else { Some(trimmed) }
}

/// The result of a search for a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The index of the only match.
    One(usize),
    /// The indices of all matches.
    Several(Vec<usize>),
    /// There is no match.
    None,
}

/// Finds a name: an exact match, else a match of the C++ form with or without parameters, else a
/// match of a part of either. White space is ignored.
pub fn find<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Found {
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    let wanted = plain(wanted);
    if wanted.is_empty() {
        return Found::None;
    }
    let mut ranked: [Vec<usize>; 3] = Default::default();
    for (index, name) in names.into_iter().enumerate() {
        if name == wanted {
            return Found::One(index);
        }
        let full = demangled(name).map(|full| plain(&full));
        if plain(&short(name)) == wanted || full.as_deref() == Some(&wanted) {
            ranked[0].push(index);
        } else if name.contains(&wanted) {
            ranked[1].push(index);
        } else if full.is_some_and(|full| full.contains(&wanted)) {
            ranked[2].push(index);
        }
    }
    let [whole, mut mangled, demangled] = ranked;
    mangled.extend(demangled);
    mangled.sort_unstable();
    for list in [whole, mangled] {
        match list.as_slice() {
            [] => {}
            [only] => return Found::One(*only),
            _ => return Found::Several(list),
        }
    }
    Found::None
}

/// Finds a complete name: an exact match, else a match of the C++ form without parameters.
pub fn find_whole<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> Found {
    match names.clone().into_iter().position(|name| name == wanted) {
        Some(index) => Found::One(index),
        None => {
            let whole = names.into_iter().enumerate().filter(|(_, name)| short(name) == wanted);
            match whole.map(|(index, _)| index).collect::<Vec<_>>().as_slice() {
                [] => Found::None,
                [only] => Found::One(*only),
                several => Found::Several(several.to_vec()),
            }
        }
    }
}

/// Returns a name for messages: the name itself followed by its C++ form in parentheses.
pub fn shown(name: &str) -> String {
    demangled(name).map_or_else(|| name.to_owned(), |full| format!("{name} ({full})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 6] =
        ["vecadd", "vecadd2", "_Z5scalePff", "_Z5scalePdd", "_Z4axpyIfLi4EEvPT_S0_", "_ZN4mine5tableE"];

    #[test]
    fn a_part_is_enough_if_only_one_name_has_it() {
        for (wanted, found) in [
            ("vecadd", Found::One(0)),
            ("add2", Found::One(1)),
            ("scale", Found::Several(vec![2, 3])),
            ("scale(float*, float)", Found::One(2)),
            ("scale(double", Found::One(3)),
            ("axpy", Found::One(4)),
            ("axpy<float, 4>", Found::One(4)),
            ("axpy<float,4>", Found::One(4)),
            ("table", Found::One(5)),
            ("mine::table", Found::One(5)),
            ("ecad", Found::Several(vec![0, 1])),
            ("vecsub", Found::None),
            ("", Found::None),
        ] {
            assert_eq!(find(wanted, NAMES), found, "{wanted}");
        }
    }

    #[test]
    fn types_of_parameters_are_in_the_name() {
        let types = |name: &str| parameter_types(name).unwrap();
        assert_eq!(types("_Z6vecaddPKfS0_Pfi"), ["float const*", "float const*", "float*", "int"]);
        assert_eq!(types("_Z4axpyIfLi4EEvPT_S0_"), ["float*", "float"]);
        assert_eq!(types("_Z1fPFivEi"), ["int (*)()", "int"]);
        assert_eq!(types("_Z1fv"), Vec::<String>::new());
        assert_eq!(parameter_types("vecadd"), None);
        assert_eq!(short("_Z4axpyIfLi4EEvPT_S0_"), "axpy<float, 4>");
    }

    #[test]
    fn no_name_causes_a_panic() {
        // each level doubles the expansion of the previous one
        let mut bomb = "_Z1fI1aE".to_owned();
        for level in 0..30u32 {
            let s = char::from_digit(level, 36).unwrap().to_ascii_uppercase();
            bomb.push_str(&format!("1tIS{s}_S{s}_E"));
        }
        assert!(demangled(&bomb).is_none_or(|text| text.len() <= LONGEST));
        for name in ["_Z", "_ZN", "_Z99999999999f", "_ZZZZZZZZZZ", "_Z1fIIIIIIIIIII"] {
            assert_eq!(demangled(name), None, "{name}");
        }
        assert!(demangled(&format!("_Z1f{}", "P".repeat(5000))).is_none());
        demangled(&format!("_Z1f{}i", "P".repeat(3000)));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(3000))]

        #[test]
        fn no_mangled_name_causes_a_panic(tail in "[ZNSTIELKPRADCMXJtcvifdlmjyxpsaobw_0-9]{0,60}") {
            let name = format!("_Z{tail}");
            parameter_types(&name);
            find(&name, [name.as_str()]);
            short(&name);
        }
    }
}
