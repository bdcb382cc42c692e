//! The names that a text states, besides the value that is read from it: a value does not tell
//! whether a field was omitted or has its default.
//!
//! The names are noted while the value is read, between the parser of RON and the type that is
//! read.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Visitor};

/// What a text states for a value.
#[derive(Debug, Default)]
pub enum Stated {
    /// `None`.
    Nothing,
    /// A struct or a map, with the names of its fields in order.
    Fields(Vec<(String, Stated)>),
    /// Anything else. The variants of enums are not looked into.
    #[default]
    Value,
}

impl Stated {
    /// Returns the fields that a struct or map states.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Self)> {
        let fields = if let Self::Fields(fields) = self { fields.as_slice() } else { &[] };
        fields.iter().map(|(name, stated)| (name.as_str(), stated))
    }
}

/// A reader, between a parser and the type that is read, that notes what the text states.
pub(super) struct Noting<'a, T> {
    pub inner: T,
    pub stated: &'a mut Stated,
}

/// The same for the name of a field.
struct NotingName<'a, T> {
    inner: T,
    name: &'a mut String,
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Noting<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.inner.deserialize(Noting { inner, stated: self.stated })
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for NotingName<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.inner.deserialize(NotingName { inner, name: self.name })
    }
}

/// Passes the calls of a deserializer on. What its visitor is given is noted as well.
macro_rules! pass_on {
    ($noting:ident, $note:ident) => {
        pass_on! { $noting, $note:
            deserialize_any() deserialize_bool() deserialize_i8() deserialize_i16() deserialize_i32()
            deserialize_i64() deserialize_i128() deserialize_u8() deserialize_u16() deserialize_u32()
            deserialize_u64() deserialize_u128() deserialize_f32() deserialize_f64() deserialize_char()
            deserialize_str() deserialize_string() deserialize_bytes() deserialize_byte_buf()
            deserialize_option() deserialize_unit() deserialize_unit_struct(name: &'static str)
            deserialize_newtype_struct(name: &'static str) deserialize_seq() deserialize_tuple(len: usize)
            deserialize_tuple_struct(name: &'static str, len: usize) deserialize_map()
            deserialize_struct(name: &'static str, fields: &'static [&'static str])
            deserialize_enum(name: &'static str, variants: &'static [&'static str])
            deserialize_identifier() deserialize_ignored_any()
        }
    };
    ($noting:ident, $note:ident: $($method:ident($($argument:ident: $of:ty),*))*) => {
        impl<'de, D: Deserializer<'de>> Deserializer<'de> for $noting<'_, D> {
            type Error = D::Error;

            $(fn $method<V: Visitor<'de>>(self, $($argument: $of,)* visitor: V) -> Result<V::Value, D::Error> {
                self.inner.$method($($argument,)* $noting { inner: visitor, $note: self.$note })
            })*

            fn is_human_readable(&self) -> bool {
                self.inner.is_human_readable()
            }
        }
    };
}

pass_on!(Noting, stated);
pass_on!(NotingName, name);

/// Passes values on to a visitor as they are.
macro_rules! values {
    ($($method:ident: $of:ty),*) => {
        $(fn $method<E: Error>(self, value: $of) -> Result<V::Value, E> {
            self.inner.$method(value)
        })*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Noting<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    values! {
        visit_bool: bool, visit_i8: i8, visit_i16: i16, visit_i32: i32, visit_i64: i64, visit_i128: i128,
        visit_u8: u8, visit_u16: u16, visit_u32: u32, visit_u64: u64, visit_u128: u128, visit_f32: f32,
        visit_f64: f64, visit_char: char, visit_str: &str, visit_borrowed_str: &'de str, visit_string: String,
        visit_bytes: &[u8], visit_borrowed_bytes: &'de [u8], visit_byte_buf: Vec<u8>
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        *self.stated = Stated::Nothing;
        self.inner.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.inner.visit_some(Noting { inner, stated: self.stated })
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.inner.visit_newtype_struct(inner)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, values: A) -> Result<V::Value, A::Error> {
        self.inner.visit_seq(values)
    }

    fn visit_map<A: MapAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        *self.stated = Stated::Fields(Vec::new());
        self.inner.visit_map(Noting { inner, stated: self.stated })
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.inner.visit_enum(variant)
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Noting<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, inner: K) -> Result<Option<K::Value>, A::Error> {
        let mut name = String::new();
        let key = self.inner.next_key_seed(NotingName { inner, name: &mut name })?;
        if let (Some(_), Stated::Fields(fields)) = (&key, &mut *self.stated) {
            fields.push((name, Stated::default()));
        }
        Ok(key)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, inner: S) -> Result<S::Value, A::Error> {
        match &mut *self.stated {
            Stated::Fields(fields) if !fields.is_empty() => {
                let (_, stated) = fields.last_mut().expect("there is one");
                self.inner.next_value_seed(Noting { inner, stated })
            }
            _ => self.inner.next_value_seed(inner),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for NotingName<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    values! { visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_char: char }

    fn visit_str<E: Error>(self, name: &str) -> Result<V::Value, E> {
        name.clone_into(self.name);
        self.inner.visit_str(name)
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<V::Value, E> {
        name.clone_into(self.name);
        self.inner.visit_borrowed_str(name)
    }

    fn visit_string<E: Error>(self, name: String) -> Result<V::Value, E> {
        self.name.clone_from(&name);
        self.inner.visit_string(name)
    }
}
