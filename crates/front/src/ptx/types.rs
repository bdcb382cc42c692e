//! The scalar types of PTX.

use warpbound_core::isa::TypeKind;
use warpbound_core::program::RegKind;
use warpbound_core::program::sem::{FloatTy, IntTy, ValueTy};

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// Untyped bits of this width.
    Bits(u8),
    /// An unsigned integer of this width.
    Unsigned(u8),
    /// A signed integer of this width.
    Signed(u8),
    F16,
    F16x2,
    F32,
    F64,
    /// Two numbers of single precision in 64 bits.
    F32x2,
    Bf16,
    Bf16x2,
    /// Two 16-bit integers in 32 bits, which few instructions support.
    Halves {
        signed: bool,
    },
    /// The upper 19 bits of single precision, which only conversions support.
    Tf32,
    Pred,
    /// The handle of a texture, sampler or surface.
    Opaque,
}

impl Type {
    /// Parses the name of a type without the dot.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "b8" => Self::Bits(8),
            "b16" => Self::Bits(16),
            "b32" => Self::Bits(32),
            "b64" => Self::Bits(64),
            "b128" => Self::Bits(128),
            "u8" => Self::Unsigned(8),
            "u16" => Self::Unsigned(16),
            "u32" => Self::Unsigned(32),
            "u64" => Self::Unsigned(64),
            "s8" => Self::Signed(8),
            "s16" => Self::Signed(16),
            "s32" => Self::Signed(32),
            "s64" => Self::Signed(64),
            "f16" => Self::F16,
            "f16x2" => Self::F16x2,
            "f32" => Self::F32,
            "f32x2" => Self::F32x2,
            "f64" => Self::F64,
            "u16x2" => Self::Halves { signed: false },
            "s16x2" => Self::Halves { signed: true },
            "bf16" => Self::Bf16,
            "bf16x2" => Self::Bf16x2,
            "tf32" => Self::Tf32,
            "pred" => Self::Pred,
            "texref" | "samplerref" | "surfref" => Self::Opaque,
            _ => return None,
        })
    }

    /// Returns the width in bits; predicates have one bit.
    pub const fn bits(self) -> u8 {
        match self {
            Self::Bits(bits) | Self::Unsigned(bits) | Self::Signed(bits) => bits,
            Self::F16 | Self::Bf16 => 16,
            Self::F16x2 | Self::Bf16x2 | Self::Halves { .. } | Self::Tf32 | Self::F32 => 32,
            Self::F64 | Self::F32x2 | Self::Opaque => 64,
            Self::Pred => 1,
        }
    }

    /// Returns the size in memory in bytes.
    pub const fn bytes(self) -> u64 {
        self.bits().div_ceil(8) as u64
    }

    /// Returns the kind of the type for op classes.
    pub const fn kind(self) -> TypeKind {
        match self {
            Self::Bits(_) | Self::Unsigned(_) | Self::Signed(_) | Self::Halves { .. } | Self::Opaque => {
                TypeKind::Int
            }
            Self::F16 | Self::F16x2 | Self::Bf16 | Self::Bf16x2 | Self::Tf32 => TypeKind::F16,
            Self::F32 | Self::F32x2 => TypeKind::F32,
            Self::F64 => TypeKind::F64,
            Self::Pred => TypeKind::Pred,
        }
    }

    /// Returns the kind of a register of this type, or `None` if registers cannot have the type.
    pub const fn register(self) -> Option<RegKind> {
        match self {
            Self::Pred => Some(RegKind::Pred),
            Self::Bits(128) | Self::Opaque => None,
            _ => Some(RegKind::Bits(self.bits())),
        }
    }

    /// Returns the integer type (unsigned for untyped bits), or `None` for floats and predicates.
    pub const fn int(self) -> Option<IntTy> {
        match self {
            Self::Bits(bits) | Self::Unsigned(bits) if bits <= 64 => Some(IntTy { bits, signed: false }),
            Self::Signed(bits) => Some(IntTy { bits, signed: true }),
            _ => None,
        }
    }

    /// Returns the floating-point type, or `None` for other types.
    pub const fn float(self) -> Option<FloatTy> {
        match self {
            Self::F16 => Some(FloatTy::F16),
            Self::F16x2 => Some(FloatTy::F16x2),
            Self::Bf16 => Some(FloatTy::Bf16),
            Self::Bf16x2 => Some(FloatTy::Bf16x2),
            Self::F32 => Some(FloatTy::F32),
            Self::F32x2 => Some(FloatTy::F32x2),
            Self::F64 => Some(FloatTy::F64),
            _ => None,
        }
    }

    /// Returns the type for comparisons and conversions.
    pub fn value(self) -> Option<ValueTy> {
        self.int().map(ValueTy::Int).or(self.float().map(ValueTy::Float))
    }

    /// Returns an integer type with the same bits in memory.
    pub const fn raw(self) -> IntTy {
        match self {
            Self::Signed(bits) => IntTy { bits, signed: true },
            other => IntTy { bits: other.bits(), signed: false },
        }
    }
}
