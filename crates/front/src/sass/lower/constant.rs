//! Words of the banks of constants, whose numbers and contents the table of the generation states.

use super::{Cx, Res, refuse};
use crate::sass::table::{Bank, LaunchValue};
use warpbound_core::program::layout::window_base;
use warpbound_core::program::sem::{Operand as Src, Special};

impl Cx<'_> {
    /// Returns 32 bits of a constant bank.
    pub(super) fn constant(&mut self, bank: u8, offset: i64) -> Res<Src> {
        let Ok(at) = u32::try_from(offset) else {
            return refuse(format!("c[{bank:#x}][{offset:#x}]: an offset below zero"), "");
        };
        let word = |bytes: &[u8]| {
            bytes
                .get(at as usize..)
                .and_then(|bytes| bytes.first_chunk::<4>())
                .map(|word| u32::from_le_bytes(*word))
        };
        let of = |bytes: &[u8], what: &str| match word(bytes) {
            Some(word) => Ok(Src::Imm(word.into())),
            None => refuse(format!("c[{bank:#x}][{offset:#x}] lies beyond {what}"), "the file is damaged"),
        };
        match self.encoding.abi.banks.content(bank) {
            Some(Bank::Launch) => self.launch_constant(bank, at),
            Some(Bank::Compiler) => of(&self.kernel.constants, "the constants of the kernel"),
            Some(Bank::User) => Ok(Src::Special(Special::Const(at))),
            Some(Bank::Addresses) => of(&self.cubin.addresses, "the table of addresses"),
            None => {
                let hint = format!("{}, {} addresses", self.banks_hint(), self.encoding.abi.banks.addresses);
                refuse(format!("constant bank {bank}"), hint)
            }
        }
    }

    /// Returns the numbers of the banks that instructions may address by a register.
    pub(super) fn banks_hint(&self) -> String {
        let banks = &self.encoding.abi.banks;
        format!("{} parameters, {} and {} constants", banks.launch, banks.compiler, banks.user)
    }

    /// Returns a word of the bank of the launch, which contains properties of the launch, followed
    /// by the parameters.
    fn launch_constant(&self, bank: u8, at: u32) -> Res<Src> {
        let base = self.kernel.param_base;
        if at >= base {
            let inside = at - base < self.kernel.param_bytes.next_multiple_of(4);
            if let Some(reference) = self.kernel.references.get(&at) {
                return Ok(Src::Imm(reference.handle));
            }
            return if inside {
                Ok(Src::Special(Special::Param(at - base)))
            } else {
                refuse(format!("c[{bank:#x}][{at:#x}] lies behind the parameters"), "")
            };
        }
        Ok(match self.encoding.abi.launch_value(at) {
            Some(LaunchValue::Window(space)) => Src::Imm(window_base(space) & 0xffff_ffff),
            Some(LaunchValue::UpperWindow(space)) => Src::Imm(window_base(space) >> 32),
            Some(LaunchValue::BlockSize(axis)) => Src::Special(Special::Ntid(axis.index())),
            Some(LaunchValue::GridSize(axis)) => Src::Special(Special::Nctaid(axis.index())),
            Some(LaunchValue::HasClusters) => Src::Special(Special::HasClusters),
            Some(LaunchValue::ClusterSize(axis)) => Src::Special(Special::ClusterNctaid(axis.index())),
            Some(LaunchValue::ClusterReciprocal(axis)) => {
                Src::Special(Special::ClusterReciprocal(axis.index()))
            }
            Some(LaunchValue::ClusterCount(axis)) => Src::Special(Special::Nclusterid(axis.index())),
            Some(LaunchValue::ClusterRanks) => Src::Special(Special::ClusterRanks),
            Some(LaunchValue::Descriptor) => Src::Imm(0),
            Some(LaunchValue::StackTop) => Src::Imm(self.local_bytes),
            None => {
                let message = format!("c[{bank:#x}][{at:#x}]: it is not known what the driver puts there");
                return refuse(message, "");
            }
        })
    }
}
