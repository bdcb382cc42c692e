//! Files, embedded in the binary or on disk, behind one type.
//!
//! `isa/`, `configs/`, `kernels/` and `plans/` are embedded in the binary, so that an installed
//! `warpbound` works anywhere. A path that is given explicitly takes precedence.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use include_dir::{Dir, File, include_dir};

use super::files::read;
use crate::accelsim::Opcodes;
use crate::diag::{Diagnostic, Diagnostics, SourceText, closest, printable_name};
use crate::isa::IsaTable;
use crate::sass::Encoding;

static CONFIGS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/configs");
static KERNELS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/kernels");
static PLANS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/plans");
static OPCODES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/isa/traces");
const PTX_ISA: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/isa/ptx.ron"));
/// The encoding of Maxwell and Pascal instructions.
const PASCAL: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/isa/pascal.ron"));

/// The location of a file, embedded or on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A path inside `kernels/`.
    Kernel(String),
    /// A path inside `configs/`.
    Config(String),
    /// A path inside `plans/`.
    Plan(String),
    /// A path on disk.
    Disk(PathBuf),
    /// The bytes read from stdin, and the extension that a file with such contents has.
    Stdin(Arc<[u8]>, &'static str),
}

/// The extensions of compressed files; the extension before them states the kind of the contents.
const PACKED: [&str; 2] = ["gz", "xz"];

impl Location {
    /// Returns the name of the file in messages.
    pub fn shown(&self) -> String {
        match self {
            Self::Kernel(path) => format!("kernels/{path}"),
            Self::Config(path) => format!("configs/{path}"),
            Self::Plan(path) => format!("plans/{path}"),
            Self::Disk(path) => printable_name(&path.display().to_string()).into_owned(),
            Self::Stdin(..) => read::STDIN.to_owned(),
        }
    }

    /// Returns the path, if the file is on disk.
    pub fn on_disk(&self) -> Option<&Path> {
        match self {
            Self::Disk(path) => Some(path),
            _ => None,
        }
    }

    /// Returns the file name without the extension of compressed files.
    fn unpacked(&self) -> PathBuf {
        let path = match self {
            Self::Kernel(path) | Self::Config(path) | Self::Plan(path) => Path::new(path),
            Self::Disk(path) => path,
            Self::Stdin(_, ending) => return Path::new(read::STDIN).with_extension(ending),
        };
        let packed = path.extension().is_some_and(|ending| PACKED.iter().any(|packed| ending == *packed));
        if packed { path.with_extension("") } else { path.to_owned() }
    }

    /// Returns the file name without its extension.
    pub fn stem(&self) -> String {
        let name = |stem: &std::ffi::OsStr| printable_name(&stem.to_string_lossy()).into_owned();
        self.unpacked().file_stem().map_or_else(String::new, name)
    }

    /// Returns the extension without the dot; for a compressed file, that of its contents.
    pub fn extension(&self) -> String {
        self.unpacked().extension().map_or_else(String::new, |ending| ending.to_string_lossy().into_owned())
    }

    /// Returns the location of a file that is named relative to this one.
    pub fn beside(&self, name: &str) -> Self {
        let join = |path: &str| {
            let parent = Path::new(path).parent().unwrap_or(Path::new(""));
            parent.join(name).to_string_lossy().into_owned()
        };
        match self {
            Self::Kernel(path) => Self::Kernel(join(path)),
            Self::Config(path) => Self::Config(join(path)),
            Self::Plan(path) => Self::Plan(join(path)),
            Self::Disk(path) => Self::Disk(path.parent().unwrap_or(Path::new("")).join(name)),
            Self::Stdin(..) => Self::Disk(PathBuf::from(name)),
        }
    }

    /// Reads the bytes of the file as they are, at most `limit` of them.
    pub fn bytes(&self, limit: u64) -> Result<Vec<u8>, Diagnostic> {
        match self {
            Self::Disk(path) => read::bytes(path, limit),
            _ => self.text_bytes(limit),
        }
    }

    /// Reads the bytes of the file, decompressed if it is compressed.
    fn text_bytes(&self, limit: u64) -> Result<Vec<u8>, Diagnostic> {
        let missing = || Diagnostic::general(self.shown(), "no such embedded file");
        match self {
            Self::Kernel(path) => Ok(KERNELS.get_file(path).ok_or_else(missing)?.contents().to_vec()),
            Self::Config(path) => Ok(CONFIGS.get_file(path).ok_or_else(missing)?.contents().to_vec()),
            Self::Plan(path) => Ok(PLANS.get_file(path).ok_or_else(missing)?.contents().to_vec()),
            Self::Disk(path) => read::text(path, limit),
            Self::Stdin(bytes, _) => Ok(bytes.to_vec()),
        }
    }

    /// Reads the file as text: PTX, a micro kernel, a launch or a machine.
    pub fn text(&self) -> Result<SourceText, Diagnostics> {
        self.text_up_to(if self.extension() == "ptx" { read::PTX_BYTES } else { read::TEXT_BYTES })
    }

    /// Reads the file as text of at most `limit` bytes. Bytes that are not UTF-8 are an error with
    /// their place.
    pub fn text_up_to(&self, limit: u64) -> Result<SourceText, Diagnostics> {
        match String::from_utf8(self.text_bytes(limit)?) {
            // some editors put a byte order mark first, which has no meaning here
            Ok(text) => Ok(SourceText::new(self.shown(), text.trim_start_matches('\u{feff}'))),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let readable = String::from_utf8_lossy(&error.as_bytes()[..at]).into_owned();
                let source = SourceText::new(self.shown(), readable);
                let problem = source.error(at..at, format!("the file is not text: byte {at} is not UTF-8"));
                Err(problem.hint("a text file was expected here (.ptx, .warp or .ron)").into())
            }
        }
    }
}

/// The name that stands for stdin.
pub const FROM_STDIN: &str = "-";

/// Reads stdin.
pub fn stdin(limit: u64) -> Result<Location, Diagnostic> {
    let bytes = read::stdin(limit)?;
    let ending = ending_of(&String::from_utf8_lossy(&bytes));
    Ok(Location::Stdin(bytes.into(), ending))
}

/// Returns the extension of files with such contents, or an empty string if it cannot be
/// determined.
fn ending_of(text: &str) -> &'static str {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    // skip comments of PTX, RON and micro kernels
    while let Some(comment) = ["//", "/*", "#"].into_iter().find(|start| rest.starts_with(start)) {
        if rest.starts_with("#!") {
            return "ron";
        }
        let end = if comment == "/*" { "*/" } else { "\n" };
        rest = rest.split_once(end).map_or("", |(_, rest)| rest).trim_start();
    }
    let starts = [
        (".version", "ptx"),
        (".warps", "warp"),
        (".machine", "warp"),
        (".scheduler", "warp"),
        ("Launch", "ron"),
        ("Machine", "ron"),
        ("(", "ron"),
    ];
    starts.into_iter().find(|(start, _)| rest.starts_with(start)).map_or("", |(_, ending)| ending)
}

/// Returns the table of op classes of PTX.
pub fn ptx_isa() -> Result<IsaTable, Diagnostics> {
    IsaTable::parse(&SourceText::new("isa/ptx.ron", PTX_ISA))
}

/// Returns the table of instruction encodings.
pub fn encoding() -> Result<Encoding, Diagnostics> {
    Encoding::parse(&SourceText::new("isa/pascal.ron", PASCAL))
}

/// Returns the opcodes of machine code, as traces name them, for each generation.
pub fn opcodes() -> Result<Vec<Opcodes>, Diagnostics> {
    let source = |name: &str| {
        let path = format!("{name}.ron");
        let text = OPCODES.get_file(&path).and_then(|file| file.contents_utf8());
        let place = format!("isa/traces/{path}");
        match text {
            Some(text) => Ok(SourceText::new(place, text)),
            None => Err(Diagnostics::from(Diagnostic::general(place, "there is no such table of opcodes"))),
        }
    };
    ["kepler", "pascal", "volta", "turing", "ampere"]
        .iter()
        .map(|name| Opcodes::parse(&source(name)?, &source))
        .collect()
}

/// The extensions of embedded kernels.
const KERNEL_ENDINGS: [&str; 2] = ["ron", "warp"];

/// Returns the name and location of every embedded kernel, sorted by name.
pub fn kernels() -> Vec<(String, Location)> {
    embedded(&KERNELS, Location::Kernel, &KERNEL_ENDINGS)
}

/// Returns the name and location of every embedded machine, sorted by name.
pub fn machines() -> Vec<(String, Location)> {
    embedded(&CONFIGS, Location::Config, &["ron"])
}

/// Returns the name and location of every embedded plan, sorted by name.
pub fn plans() -> Vec<(String, Location)> {
    embedded(&PLANS, Location::Plan, &["ron"])
}

/// Returns the path of the file in a folder that has this name and one of these extensions.
fn find_embedded(dir: &'static Dir<'static>, name: &str, endings: &[&str]) -> Option<String> {
    let has_name = |path: &Path| {
        path.file_stem().is_some_and(|stem| stem == name)
            && path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known))
    };
    let here = dir.files().map(File::path).find(|path| has_name(path));
    let found = here.map(|path| path.to_string_lossy().into_owned());
    found.or_else(|| dir.dirs().find_map(|inner| find_embedded(inner, name, endings)))
}

/// Returns the files of a folder that have one of these extensions.
fn embedded(
    dir: &'static Dir<'static>,
    location: impl Fn(String) -> Location,
    endings: &[&str],
) -> Vec<(String, Location)> {
    let mut found: Vec<(String, Location)> = files(dir)
        .map(location)
        .filter(|location| endings.contains(&location.extension().as_str()))
        .map(|location| (location.stem(), location))
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

fn files(dir: &'static Dir<'static>) -> Box<dyn Iterator<Item = String>> {
    let here = dir.files().map(|file| file.path().to_string_lossy().into_owned());
    Box::new(here.chain(dir.dirs().flat_map(files)))
}

/// Splits `NAME@COMPILER`, the name of a launch with the code of another compiler, at its last `@`;
/// the name of a file may contain one, too.
pub fn by_compiler(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once('@') {
        Some((base, compiler)) if !compiler.contains(['/', '\\', '.']) && !Path::new(name).exists() => {
            (base, Some(compiler))
        }
        _ => (name, None),
    }
}

/// Finds a kernel by embedded name or path.
pub fn find_kernel(name: &str) -> Result<Location, Diagnostics> {
    if name == FROM_STDIN {
        let location = stdin(read::PTX_BYTES)?;
        if location.extension().is_empty() {
            let problem =
                Diagnostic::general(read::STDIN, "neither PTX nor a micro kernel, launch or machine");
            return Err(problem.hint("they begin with .version, .warps, Launch( and Machine(").into());
        }
        return Ok(location);
    }
    let (name, _) = by_compiler(name);
    let on_disk = Location::Disk(PathBuf::from(name));
    if matches!(
        on_disk.extension().as_str(),
        "warp" | "ron" | "ptx" | "cu" | "cubin" | "fatbin" | "traceg" | "g"
    ) || name.contains(['/', '\\'])
    {
        return Ok(on_disk);
    }
    if let Some(path) = find_embedded(&KERNELS, name, &KERNEL_ENDINGS) {
        return Ok(Location::Kernel(path));
    }
    let known = kernels();
    let near = closest(name, known.iter().map(|(name, _)| name.as_str()));
    let hint = near.map_or_else(
        || {
            "`warpbound list` shows the embedded kernels; a file is named with its ending (.warp, .ron, .ptx)"
                .to_owned()
        },
        |near| format!("did you mean `{near}`? `warpbound list` shows them all"),
    );
    Err(Diagnostic::general(name, "no embedded kernel of this name").hint(hint).into())
}

/// Returns the location of a file that is named in `beside`, or on the command line if that is
/// `None`.
pub fn relative(name: &str, beside: Option<&Location>) -> Location {
    beside.map_or_else(|| Location::Disk(PathBuf::from(name)), |file| file.beside(name))
}

/// Finds a kernel that a file names: an embedded one, or by a path relative to the file.
pub fn find_kernel_beside(name: &str, file: &Location) -> Result<Location, Diagnostics> {
    if name == FROM_STDIN {
        let problem = Diagnostic::general(name, "a kernel from stdin can be read once only");
        return Err(problem.hint("write it to a file, and name that").into());
    }
    Ok(match find_kernel(name)? {
        Location::Disk(_) => file.beside(name),
        embedded => embedded,
    })
}

/// Finds a plan: an embedded one by name, a path, or stdin.
pub fn find_plan(name: &str) -> Result<Location, Diagnostics> {
    if name == FROM_STDIN {
        return Ok(stdin(read::TEXT_BYTES)?);
    }
    ron_or_embedded("plan", name, None, (&PLANS, Location::Plan))
}

/// Finds a replay file; its path is relative to `beside`, if that is given.
pub fn find_schedule(name: &str, beside: Option<&Location>) -> Result<Location, Diagnostics> {
    if name == FROM_STDIN { Ok(stdin(read::SCHEDULE_BYTES)?) } else { Ok(relative(name, beside)) }
}

/// Finds a machine by embedded name or path; a path is relative to `beside`, if that is given.
pub fn find_machine(name: &str, beside: Option<&Location>) -> Result<Location, Diagnostics> {
    if name == FROM_STDIN {
        return Ok(stdin(read::TEXT_BYTES)?);
    }
    ron_or_embedded("machine", name, beside, (&CONFIGS, Location::Config))
}

/// Finds a RON file by its path, relative to `beside` if that is given, or an embedded one by its
/// name.
fn ron_or_embedded(
    kind: &str,
    name: &str,
    beside: Option<&Location>,
    (folder, location): (&'static Dir<'static>, fn(String) -> Location),
) -> Result<Location, Diagnostics> {
    let file = relative(name, beside);
    if file.extension() == "ron" || name.contains(['/', '\\']) {
        return Ok(file);
    }
    if let Some(path) = find_embedded(folder, name, &["ron"]) {
        return Ok(location(path));
    }
    let known = embedded(folder, location, &["ron"]);
    let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
    let hint = closest(name, names.iter().copied())
        .map_or_else(|| format!("embedded: {}", names.join(", ")), |near| format!("did you mean `{near}`?"));
    Err(Diagnostic::general(name, format!("no embedded {kind} of this name")).hint(hint).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_names_are_unique() {
        for list in [kernels(), machines()] {
            assert!(list.windows(2).all(|pair| pair[0].0 != pair[1].0), "{list:?}");
            assert!(list.len() > 5);
        }
    }

    #[test]
    fn what_a_text_is_shows_where_it_begins() {
        for (text, ending) in [
            ("// by a compiler\n\n/* and\n#me */\n.version 6.3", "ptx"),
            ("# a worked example\n.machine m\n", "warp"),
            ("\u{feff}  .warps 2", "warp"),
            ("// a launch\nLaunch(module: \"x\")", "ron"),
            ("#![enable(implicit_some)]\nMachine(", "ron"),
            ("block 0\n0 0\n", ""),
            ("// only a comment", ""),
            ("/* never closed", ""),
            ("", ""),
        ] {
            assert_eq!(ending_of(text), ending, "{text}");
        }
    }

    #[test]
    fn packed_files_are_what_is_inside() {
        let at = |path: &str| Location::Disk(PathBuf::from(path));
        assert_eq!((at("a/k.ptx.gz").extension().as_str(), at("a/k.ptx.gz").stem().as_str()), ("ptx", "k"));
        assert_eq!((at("k.warp.xz").extension().as_str(), at("k.warp").stem().as_str()), ("warp", "k"));
        assert_eq!(find_machine("m.ron.gz", None), Ok(at("m.ron.gz")));
    }

    #[test]
    fn slips_get_a_suggestion() {
        assert!(find_kernel("vecad").unwrap_err().to_string().contains("did you mean `vecadd`"));
        assert!(find_machine("paper-fig3", None).unwrap_err().to_string().contains("`paper-fig2`"));
    }
}
