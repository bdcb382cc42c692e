//! The files of a bundle with the contents of memory.

use super::description::{Buffer, Module, Variable};
use warpbound_core::program::launch;
use warpbound_core::program::layout::{self, GLOBALS_BASE, MemoryLayout, place_buffers};

/// The files with the contents of memory before and after the run.
#[derive(Default)]
pub struct MemoryFiles(Vec<(String, Vec<u8>)>);

impl MemoryFiles {
    /// Returns the files.
    pub fn into_contents(self) -> Vec<(String, Vec<u8>)> {
        self.0
    }

    /// Returns the files with what is in memory before the run, or what the host writes later.
    pub fn before(&self) -> impl Iterator<Item = &(String, Vec<u8>)> {
        self.0.iter().filter(|(name, _)| name.starts_with("before/"))
    }

    /// Adds a file with this name, or with a number after it where that is taken, and returns its
    /// name.
    pub fn add(&mut self, folder: &str, name: &str, bytes: &[u8]) -> String {
        let plain: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' })
            .collect();
        let mut file = format!("{folder}/{plain}.bin");
        let mut number = 2;
        while self.0.iter().any(|(taken, _)| *taken == file) {
            file = format!("{folder}/{plain}-{number}.bin");
            number += 1;
        }
        self.0.push((file.clone(), bytes.to_vec()));
        file
    }

    /// Adds the contents of buffers before and after the run.
    pub fn buffers<'b>(
        &mut self,
        buffers: &'b [launch::Buffer],
        after: impl Fn(usize) -> &'b [u8],
    ) -> Vec<Buffer> {
        let places = place_buffers(buffers.iter().map(|buffer| buffer.bytes.len() as u64));
        let described = buffers.iter().zip(places).enumerate().map(|(index, (buffer, place))| {
            let name = &buffer.name;
            let zero = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0);
            let before = (!zero(&buffer.bytes)).then(|| self.add("before", name, &buffer.bytes));
            let contents = after(index);
            let after = match &before {
                _ if zero(contents) => None,
                Some(before) if contents == buffer.bytes => Some(before.clone()),
                _ => Some(self.add("after", name, contents)),
            };
            let element = format!("{:?}", buffer.elem).to_lowercase();
            let bytes = buffer.bytes.len() as u64;
            Buffer { name: name.clone(), address: place.address, bytes, element, before, after }
        });
        described.collect()
    }

    /// Adds the variables of a module: those that the host copies to, and all after the run.
    pub fn module<'v>(
        &mut self,
        index: usize,
        memory: &MemoryLayout,
        symbols: &[launch::Buffer],
        after: &dyn Fn(&str) -> Option<&'v [u8]>,
    ) -> Module {
        let mut variables = Vec::new();
        let spaces = [("global", &memory.globals, GLOBALS_BASE), ("const", &memory.constants, 0)];
        for (space, segment, base) in spaces {
            for layout::Variable { name, offset, size } in &segment.vars {
                let Some(contents) = after(name) else { continue };
                let symbol = symbols.iter().find(|symbol| symbol.name == *name);
                let before = symbol.map(|symbol| self.add("before", name, &symbol.bytes));
                let after = self.add("after", name, contents);
                let (name, address) = (name.clone(), base + offset);
                variables.push(Variable { name, space, address, bytes: *size, before, after });
            }
        }
        let code = if index == 0 { "code.ptx".to_owned() } else { format!("code{index}.ptx") };
        Module { code, variables }
    }
}
