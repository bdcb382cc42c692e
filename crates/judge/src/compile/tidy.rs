//! PTX that does not depend on the folders in which it was made.

use std::path::Path;

use super::Folders;

/// Returns the PTX with a first line that states where it comes from. The names of source files
/// lose the working directory and the folder of the headers, and their times.
pub fn tidy(ptx: &str, head: &str, folders: Folders) -> String {
    let head: String = head.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut text = format!("// {head}\n");
    // the library ends its text with a zero
    for line in ptx.trim_end_matches('\0').lines() {
        match file(line, folders) {
            Some(changed) => text.push_str(&changed),
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

/// Returns a line `.file NUMBER "NAME"` with the shorter name; `None` for any other line.
fn file(line: &str, folders: Folders) -> Option<String> {
    let (before, rest) = line.split_once('"')?;
    let mut words = before.split_whitespace();
    let is_file =
        words.next() == Some(".file") && words.next().is_some_and(|word| word.parse::<u32>().is_ok());
    let name = rest.rsplit_once('"')?.0;
    let inside = |folder: &Path| {
        let folder = folder.to_string_lossy();
        let rest = name.strip_prefix(&*folder)?;
        rest.strip_prefix(['/', '\\']).filter(|rest| !rest.is_empty() && !folder.is_empty())
    };
    let folders = std::iter::once(folders.headers).chain(folders.here.iter().map(AsRef::as_ref));
    let short = folders.filter_map(inside).next().unwrap_or(name);
    is_file.then(|| format!("{before}\"{short}\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn names_of_files_lose_folders_and_times() {
        let here = [PathBuf::from("/work"), PathBuf::from("/link")];
        let folders =
            Folders { here: &here, headers: Path::new("/tmp/x/include"), scratch: Path::new("/tmp/x") };
        let tidied = |ptx: &str| tidy(ptx, "k.cu,\nby clang", folders);
        assert_eq!(
            tidied(
                ".version 7.0\n\t.file\t1 \"/work/src/k.cu\", 17, 99\n.file 2 \"/tmp/x/include/cuda_min/math.h\"\n\0"
            ),
            "// k.cu, by clang\n.version 7.0\n\t.file\t1 \"src/k.cu\"\n.file 2 \"cuda_min/math.h\"\n"
        );
        for same in
            [".file 1 \"/workshop/k.cu\"", "\"/work/k.cu\"", ".file x \"/work/k.cu\"", ".file 1 \"k.cu\""]
        {
            assert_eq!(tidied(same), format!("// k.cu, by clang\n{same}\n"));
        }
        assert!(tidied(".file 1 \"/link/k.cu\"").ends_with(".file 1 \"k.cu\"\n"));
    }
}
