//! Tests of the words that the glossary (`docs/glossary.md`) defines and bans.
//!
//! The comments in the code, the messages in `src` and `crates`, and the pages of the book do not
//! contain the words that the glossary lists under "Words to avoid". No documentation comment in
//! `src` and `crates` begins with one of the fragments that are listed there.

#[path = "support/files.rs"]
mod files;

use std::path::Path;

/// A piece of text for people, and where it is.
struct Prose {
    file: String,
    line: usize,
    text: String,
}

/// The parts of a Rust file that people read.
#[derive(Default)]
struct Read {
    /// The blocks of consecutive comment lines, each with its first line.
    comments: Vec<(usize, String)>,
    /// The first lines of the paragraphs of documentation comments.
    openings: Vec<(usize, String)>,
    /// The string literals.
    strings: Vec<(usize, String)>,
}

impl Read {
    /// Reads the comments and string literals of a file.
    fn of(text: &str) -> Self {
        let mut read = Self::default();
        let mut line = 1;
        let mut rest = text;
        // the line and the marker of the last comment, and whether its paragraph continues
        let mut last = (0, "", false);
        while let Some(first) = rest.chars().next() {
            let taken = if rest.starts_with("//") {
                let comment = rest.lines().next().unwrap_or("");
                let marker = ["///", "//!", "//"].into_iter().find(|marker| comment.starts_with(marker));
                let marker = marker.unwrap_or("//");
                let words = comment[marker.len()..].trim();
                let follows = (last.0, last.1) == (line - 1, marker);
                if marker != "//" && !words.is_empty() && !(follows && last.2) {
                    read.openings.push((line, words.to_owned()));
                }
                match read.comments.last_mut() {
                    Some((_, block)) if follows => {
                        block.push(' ');
                        block.push_str(words);
                    }
                    _ => read.comments.push((line, words.to_owned())),
                }
                last = (line, marker, !words.is_empty());
                comment.len()
            } else if let Some(literal) = string(rest) {
                read.strings.push((line, literal.to_owned()));
                literal.len()
            } else if first == '\'' {
                character(rest)
            } else if first.is_alphanumeric() || first == '_' {
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len())
            } else {
                first.len_utf8()
            };
            line += rest[..taken].matches('\n').count();
            rest = &rest[taken..];
        }
        read
    }
}

/// Returns the string literal at the start of a text, with its quotes.
fn string(text: &str) -> Option<&str> {
    let after = text.trim_start_matches(['b', 'c']);
    if let Some(raw) = after.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let inside = raw[hashes..].strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(hashes));
        let length = inside.find(&end)? + end.len();
        return Some(&text[..text.len() - inside.len() + length]);
    }
    let inside = after.strip_prefix('"')?;
    let mut escaped = false;
    let end = inside.char_indices().find(|&(_, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    Some(&text[..text.len() - inside.len() + end.0 + 1])
}

/// Returns the length of the character literal or lifetime at the start of a text.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((escaped, _))) => {
            text[escaped + 1..].find('\'').map_or(1, |end| escaped + 1 + end + 1)
        }
        (_, Some((end, '\''))) => end + 1,
        _ => 1,
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().to_string_lossy().into_owned()
}

/// Returns the paragraphs of a page, each with its first line.
fn paragraphs(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut continues = false;
    for (index, line) in text.lines().enumerate() {
        match found.last_mut() {
            Some((_, paragraph)) if continues => {
                paragraph.push(' ');
                paragraph.push_str(line);
            }
            _ => found.push((index + 1, line.to_owned())),
        }
        continues = !line.is_empty();
    }
    found
}

/// Returns everything that people read: comments, messages and pages.
///
/// Two pages are left out: the help texts, which are generated from comments of the command line,
/// and the bibliography, whose titles are those of other authors.
fn prose() -> Vec<Prose> {
    let mut all = Vec::new();
    for folder in ["src", "crates", "tests", "benches", "examples"] {
        for path in files::below(folder, "rs") {
            let read = Read::of(&std::fs::read_to_string(&path).unwrap());
            let strings = if ["src", "crates"].contains(&folder) { read.strings } else { Vec::new() };
            let texts = read.comments.into_iter().chain(strings);
            all.extend(texts.map(|(line, text)| Prose { file: name(&path), line, text }));
        }
    }
    let others = ["README.md", "CONTRIBUTING.md", "configs/README.md", "kernels/README.md"];
    let pages = [files::below("src", "md"), files::below("crates", "md"), files::below("docs", "md")]
        .concat()
        .into_iter();
    for path in pages.chain(others.map(|page| root().join(page))) {
        let file = name(&path);
        if file == "docs/commands.md" || file == "src/model/bibliography.md" {
            continue;
        }
        let mut text = std::fs::read_to_string(&path).unwrap();
        if file == "docs/glossary.md" {
            text.truncate(text.find(AVOID).unwrap());
        }
        let texts = paragraphs(&text).into_iter();
        all.extend(texts.map(|(line, text)| Prose { file: file.clone(), line, text }));
    }
    all
}

/// The heading of the banned words.
const AVOID: &str = "\n## Words to avoid\n";

/// Returns the two parts of the glossary: the definitions and the banned words.
fn glossary() -> (String, String) {
    let text = std::fs::read_to_string(root().join("docs/glossary.md")).unwrap();
    let (terms, banned) = text.split_once(AVOID).unwrap();
    (terms.to_owned(), banned.to_owned())
}

/// Returns the first cells of the rows of the table in a text, without its head.
fn first_cells(text: &str) -> Vec<(&str, &str)> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    rows.skip(1).map(|row| row.split_once(" | ").unwrap()).collect()
}

/// Returns a text in lower case as words with one space before and after each.
fn words(text: &str) -> String {
    let lower = text.to_lowercase();
    let split = lower.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let mut words = String::from(" ");
    for word in split.filter(|word| !word.is_empty()) {
        words.push_str(word);
        words.push(' ');
    }
    words
}

/// Returns the banned words and phrases, in the form of [`words`].
fn banned(text: &str) -> Vec<String> {
    first_cells(text).iter().flat_map(|(avoid, _)| avoid.split(", ")).map(words).collect()
}

/// Returns the banned openings of comments: what is in backquotes before the first table.
fn banned_openings(text: &str) -> Vec<&str> {
    let before = text.split("\n|").next().unwrap();
    let quoted = before.split('`').skip(1).step_by(2);
    quoted.filter(|quoted| !quoted.contains('/')).collect()
}

#[test]
fn banned_words_are_not_used() {
    let (_, text) = glossary();
    let banned = banned(&text);
    assert!(banned.len() > 30 && banned.contains(&" hardly ever ".to_owned()), "{banned:?}");
    let all = prose();
    assert!(all.len() > 20_000, "only {} pieces of prose were found", all.len());
    let mut wrong = Vec::new();
    for Prose { file, line, text } in &all {
        let text = words(text);
        let found = banned.iter().filter(|word| text.contains(word.as_str()));
        wrong.extend(found.map(|word| format!("{file}:{line}:{word}")));
    }
    assert!(wrong.is_empty(), "docs/glossary.md says what to write instead:\n{}", wrong.join("\n"));
}

#[test]
fn documentation_does_not_begin_with_fragments() {
    let (_, text) = glossary();
    let banned = banned_openings(&text);
    assert!(banned.len() >= 8 && banned.contains(&"For which"), "{banned:?}");
    let mut wrong = Vec::new();
    for path in [files::below("src", "rs"), files::below("crates", "rs")].concat() {
        let openings = Read::of(&std::fs::read_to_string(&path).unwrap()).openings;
        for (line, opening) in openings {
            if banned.iter().any(|start| opening.strip_prefix(start).is_some_and(|r| r.starts_with(' '))) {
                wrong.push(format!("{}:{line}: {opening}", name(&path)));
            }
        }
    }
    assert!(wrong.is_empty(), "begin with a verb or a noun:\n{}", wrong.join("\n"));
}

#[test]
fn the_glossary_defines_each_term_once_and_in_order() {
    let (text, _) = glossary();
    let rows = first_cells(&text);
    assert!(rows.len() >= 40, "{} terms", rows.len());
    assert!(rows.iter().all(|(_, meaning)| meaning.len() > 10));
    let terms: Vec<String> = rows.iter().map(|(term, _)| term.to_lowercase()).collect();
    assert!(terms.is_sorted() && terms.windows(2).all(|pair| pair[0] != pair[1]), "{terms:?}");
}

#[test]
fn comments_and_strings_are_found() {
    let text = r##"//! Of a file,
//! whoever reads it.
//!
//! By itself.
fn f<'a>(x: &'a str) -> char { let y = "a // b\" c"; /* no */ '"' } // last
/// One.
// two
const C: (&str, char) = (r#"raw " one"#, '\''); // URL: "x"
"##;
    let read = Read::of(text);
    let owned = |pairs: &[(usize, &str)]| -> Vec<(usize, String)> {
        pairs.iter().map(|&(line, text)| (line, text.to_owned())).collect()
    };
    let comments =
        [(1, "Of a file, whoever reads it.  By itself."), (5, "last"), (6, "One."), (7, "two URL: \"x\"")];
    assert_eq!(read.comments, owned(&comments));
    assert_eq!(read.openings, owned(&[(1, "Of a file,"), (4, "By itself."), (6, "One.")]));
    assert_eq!(read.strings, owned(&[(5, r#""a // b\" c""#), (8, "r#\"raw \" one\"#")]));
    assert_eq!(words("Hardly  ever, it_is\nso."), " hardly ever it_is so ");
}
