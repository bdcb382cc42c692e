//! Tensor maps, by which copies of parts of tensors find their elements.
//!
//! The driver makes a tensor map of 128 bytes for the host (`cuTensorMapEncodeTiled`), whose layout
//! is not public. A map of this simulator has the same size and a layout of its own. A kernel
//! receives it as a parameter, or reads it from memory.

use serde::{Deserialize, Serialize};

use super::sem::{FloatTy, IntTy, ValueTy};

/// A tensor in global memory, and the box that one copy moves. Axis 0 is that whose elements are
/// adjacent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// The address of the first element.
    pub address: u64,
    /// The type of the elements.
    pub elem: TensorElem,
    /// The number of elements along each axis.
    pub dims: Vec<u64>,
    /// The distance in bytes of elements that are adjacent along each axis but the first.
    pub strides: Vec<u64>,
    /// The number of elements of the box along each axis.
    pub extents: Vec<u32>,
    /// The bytes over which parts of 16 bytes are exchanged in shared memory; 0 for none.
    pub swizzle: u32,
    /// Whether elements outside of the tensor are read as NaN; they are read as 0 otherwise.
    pub fill_nan: bool,
}

/// The type of the elements of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub enum TensorElem {
    U8,
    U16,
    U32,
    I32,
    U64,
    I64,
    F16,
    F32,
    F64,
    Bf16,
    Tf32,
}

impl TensorElem {
    const ALL: [Self; 11] = [
        Self::U8,
        Self::U16,
        Self::U32,
        Self::I32,
        Self::U64,
        Self::I64,
        Self::F16,
        Self::F32,
        Self::F64,
        Self::Bf16,
        Self::Tf32,
    ];

    /// Returns the type of the values.
    pub fn value(self) -> ValueTy {
        let int = |bits, signed| ValueTy::Int(IntTy { bits, signed });
        match self {
            Self::U8 => int(8, false),
            Self::U16 => int(16, false),
            Self::U32 => int(32, false),
            Self::I32 => int(32, true),
            Self::U64 => int(64, false),
            Self::I64 => int(64, true),
            Self::F16 => ValueTy::Float(FloatTy::F16),
            Self::F32 | Self::Tf32 => ValueTy::Float(FloatTy::F32),
            Self::F64 => ValueTy::Float(FloatTy::F64),
            Self::Bf16 => ValueTy::Float(FloatTy::Bf16),
        }
    }

    /// Returns the size of an element in bytes.
    pub fn bytes(self) -> u64 {
        self.value().bytes() as u64
    }

    /// Returns the bits of NaN, or `None` for integers.
    const fn nan(self) -> Option<u64> {
        match self {
            Self::F16 => Some(0x7fff),
            Self::Bf16 => Some(0x7fff),
            Self::F32 | Self::Tf32 => Some(0x7fff_ffff),
            Self::F64 => Some(0x7fff_ffff_ffff_ffff),
            _ => None,
        }
    }
}

impl TensorMap {
    /// The number of bytes of a map.
    pub const BYTES: usize = 128;

    /// The most axes of a tensor.
    pub const AXES: usize = 5;

    /// The first bytes of a map, which are followed by its address.
    const MARK: u64 = u64::from_le_bytes(*b"tensors1");

    /// Checks the conditions under which the driver makes a map.
    ///
    /// # Errors
    /// Returns a message about the first condition that does not hold.
    pub fn check(&self) -> Result<(), String> {
        let axes = self.dims.len();
        if !(1..=Self::AXES).contains(&axes) {
            return Err(format!("a tensor of {axes} axes; 1 to {} are possible", Self::AXES));
        }
        if self.strides.len() + 1 != axes || self.extents.len() != axes {
            return Err(format!(
                "{axes} dimensions, {} strides and a box of {} axes: there is a stride for each axis but the \
                 first, and an extent of the box for each",
                self.strides.len(),
                self.extents.len()
            ));
        }
        if let Some(dim) = self.dims.iter().find(|dim| !(1..=1 << 32).contains(*dim)) {
            return Err(format!("a dimension of {dim} elements; 1 to 2^32 are possible"));
        }
        if let Some(stride) = self.strides.iter().find(|&&stride| stride % 16 != 0 || stride >= 1 << 40) {
            return Err(format!("a stride of {stride} bytes; it must be a multiple of 16 less than 2^40"));
        }
        if let Some(extent) = self.extents.iter().find(|extent| !(1..=256).contains(*extent)) {
            return Err(format!("a box of {extent} elements along an axis; 1 to 256 are possible"));
        }
        if !self.address.is_multiple_of(16) {
            return Err(format!("the tensor begins at {:#x}, which is no multiple of 16", self.address));
        }
        let row = self.row_bytes();
        if !row.is_multiple_of(16) {
            return Err(format!("a row of the box has {row} bytes, which is no multiple of 16"));
        }
        if !matches!(self.swizzle, 0 | 32 | 64 | 128) {
            return Err(format!("swizzling of {} bytes; 0, 32, 64 and 128 are possible", self.swizzle));
        }
        if self.swizzle > 0 && row > u64::from(self.swizzle) {
            let swizzle = self.swizzle;
            return Err(format!(
                "a row of the box has {row} bytes, more than the {swizzle} that are swizzled"
            ));
        }
        if self.fill_nan && self.elem.nan().is_none() {
            return Err("integers cannot be filled with NaN".to_owned());
        }
        Ok(())
    }

    /// Returns the number of bytes of the box along axis 0.
    pub fn row_bytes(&self) -> u64 {
        u64::from(self.extents.first().copied().unwrap_or(0)) * self.elem.bytes()
    }

    /// Returns the number of bytes of the box.
    pub fn box_bytes(&self) -> u64 {
        self.row_bytes() * self.extents.iter().skip(1).map(|&extent| u64::from(extent)).product::<u64>()
    }

    /// Returns the number of bytes from the first element to the end of the last one.
    pub fn bytes(&self) -> u128 {
        let distances = std::iter::once(self.elem.bytes()).chain(self.strides.iter().copied());
        let to_last = |(dim, distance): (&u64, u64)| u128::from(dim.saturating_sub(1)) * u128::from(distance);
        self.dims.iter().zip(distances).map(to_last).sum::<u128>() + u128::from(self.elem.bytes())
    }

    /// Returns the bits of elements outside of the tensor.
    pub fn outside(&self) -> u64 {
        if self.fill_nan { self.elem.nan().unwrap_or(0) } else { 0 }
    }

    /// Returns the address of an element, or `None` if it is outside of the tensor.
    pub fn element(&self, position: &[i64]) -> Option<u64> {
        let mut address = self.address;
        for (axis, (&at, &dim)) in position.iter().zip(&self.dims).enumerate() {
            let at = u64::try_from(at).ok().filter(|at| *at < dim)?;
            let stride = if axis == 0 { self.elem.bytes() } else { self.strides[axis - 1] };
            address = address.wrapping_add(at.wrapping_mul(stride));
        }
        Some(address)
    }

    /// Returns the bytes of the map.
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let elem = TensorElem::ALL.iter().position(|elem| *elem == self.elem).unwrap_or(0) as u64;
        let kind = self.dims.len() as u64
            | elem << 8
            | u64::from(self.swizzle) << 16
            | u64::from(self.fill_nan) << 32;
        let mut words = vec![Self::MARK, self.address, kind];
        let axis = |list: &[u64], index: usize| list.get(index).copied().unwrap_or(0);
        words.extend((0..Self::AXES).map(|index| axis(&self.dims, index)));
        words.extend((1..Self::AXES).map(|index| axis(&self.strides, index - 1)));
        let extents: Vec<u64> = self.extents.iter().map(|&extent| u64::from(extent)).collect();
        words.push((0..Self::AXES).fold(0, |word, index| word | axis(&extents, index) << (12 * index)));
        let mut bytes = [0; Self::BYTES];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Returns whether a map is a part of these bytes.
    pub fn occurs_in(bytes: &[u8]) -> bool {
        (0..bytes.len()).step_by(8).any(|at| {
            bytes[at..].first_chunk::<{ Self::BYTES }>().is_some_and(|bytes| Self::decode(bytes).is_some())
        })
    }

    /// Decodes a map; `None` if the bytes are none.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let words: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|word| Some(u64::from_le_bytes(word.try_into().ok()?)))
            .collect::<Option<_>>()?;
        let [mark, address, kind, rest @ ..] = words.as_slice() else { return None };
        let (axes, elem) = ((kind & 0xff) as usize, (kind >> 8 & 0xff) as usize);
        let (dims, rest) = rest.split_at_checked(Self::AXES)?;
        let (strides, rest) = rest.split_at_checked(Self::AXES - 1)?;
        let extents = rest.first()?;
        let map = Self {
            address: *address,
            elem: *TensorElem::ALL.get(elem)?,
            dims: dims.get(..axes)?.to_vec(),
            strides: strides.get(..axes.checked_sub(1)?)?.to_vec(),
            extents: (0..axes).map(|index| (extents >> (12 * index) & 0xfff) as u32).collect(),
            swizzle: (kind >> 16 & 0xffff) as u32,
            fill_nan: kind >> 32 & 1 != 0,
        };
        (*mark == Self::MARK && map.check().is_ok()).then_some(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> TensorMap {
        TensorMap {
            address: 0xc000_0010,
            elem: TensorElem::Bf16,
            dims: vec![1 << 32, 7, 3],
            strides: vec![1 << 35, 16],
            extents: vec![64, 256, 1],
            swizzle: 128,
            fill_nan: true,
        }
    }

    #[test]
    fn maps_survive_encoding() {
        let map = map();
        assert_eq!(map.check(), Ok(()));
        assert_eq!(TensorMap::decode(&map.encode()), Some(map.clone()));
        assert_eq!((map.row_bytes(), map.box_bytes(), map.outside()), (128, 128 * 256, 0x7fff));
        let inner = [&[0; 64][..], &map.encode(), &[1; 8]].concat();
        assert!(TensorMap::occurs_in(&inner) && !TensorMap::occurs_in(&inner[..191]));
        assert_eq!(map.bytes(), (((1 << 32) - 1) * 2 + (6 << 35) + 2 * 16) + 2);
        let mut bytes = map.encode();
        bytes[0] ^= 1;
        assert_eq!(TensorMap::decode(&bytes), None);
        assert_eq!(TensorMap::decode(&[0; 128]), None);
        assert_eq!(TensorMap::decode(&[255; 128]), None);
        assert_eq!(TensorMap::decode(&map.encode()[..64]), None);
    }

    #[test]
    fn elements_are_inside_or_outside() {
        let map = map();
        assert_eq!(map.element(&[5, 6, 2]), Some(0xc000_0010 + 10 + (6 << 35) + 32));
        assert_eq!(map.element(&[0, 7, 0]), None);
        assert_eq!(map.element(&[-1, 0, 0]), None);
    }

    #[test]
    fn the_conditions_of_the_driver_are_checked() {
        let wrong = |change: fn(&mut TensorMap), why: &str| {
            let mut map = map();
            change(&mut map);
            let message = map.check().expect_err(why);
            assert!(message.contains(why), "{message}");
        };
        wrong(|map| map.dims = Vec::new(), "0 axes");
        wrong(|map| map.dims[1] = 0, "a dimension of 0 elements");
        wrong(|map| map.strides[0] = 8, "a stride of 8 bytes");
        wrong(|map| map.strides.truncate(1), "1 strides");
        wrong(|map| map.extents[1] = 257, "a box of 257 elements");
        wrong(|map| map.extents[0] = 7, "14 bytes, which is no multiple of 16");
        wrong(|map| map.swizzle = 64, "more than the 64");
        wrong(|map| map.swizzle = 16, "swizzling of 16 bytes");
        wrong(|map| map.address = 8, "begins at 0x8");
        wrong(|map| map.elem = TensorElem::U16, "integers");
    }
}
