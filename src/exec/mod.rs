//! shim
use crate::diag::Diagnostics;
use crate::path::*;
use crate::program::{Program, launch::Launch};
pub struct Options {
    pub max_instructions_per_block: u64,
}
pub struct Executor<'a>(&'a Program);
impl<'a> Executor<'a> {
    pub fn new(p: &'a Program, _: &'a Launch, _: Options) -> Result<Self, Diagnostics> {
        Ok(Self(p))
    }
    pub fn buffer(&self, _: usize) -> &[u8] {
        &[]
    }
    pub fn notes(&self) -> &[String] {
        &[]
    }
}
impl BlockSource for Executor<'_> {
    type Error = Diagnostics;
    fn next_block(&mut self, _: &mut BlockPaths) -> Result<bool, Diagnostics> {
        Ok(false)
    }
}
