//! The numbers of types, from `type_description_interfaces/msg/FieldType`. Those of arrays and
//! sequences are sums, e.g. `UINT8 + SEQUENCE`.

#![expect(missing_docs, reason = "each is what it is called")]

pub const NESTED: u8 = 1;
pub const INT8: u8 = 2;
pub const UINT8: u8 = 3;
pub const INT16: u8 = 4;
pub const UINT16: u8 = 5;
pub const INT32: u8 = 6;
pub const UINT32: u8 = 7;
pub const INT64: u8 = 8;
pub const UINT64: u8 = 9;
pub const FLOAT: u8 = 10;
pub const DOUBLE: u8 = 11;
pub const LONG_DOUBLE: u8 = 12;
pub const CHAR: u8 = 13;
pub const WCHAR: u8 = 14;
pub const BOOLEAN: u8 = 15;
pub const BYTE: u8 = 16;
pub const STRING: u8 = 17;
pub const WSTRING: u8 = 18;
pub const FIXED_STRING: u8 = 19;
pub const FIXED_WSTRING: u8 = 20;
pub const BOUNDED_STRING: u8 = 21;
pub const BOUNDED_WSTRING: u8 = 22;
/// Added for an array.
pub const ARRAY: u8 = 48;
/// Added for a bounded sequence.
pub const BOUNDED_SEQUENCE: u8 = 96;
/// Added for an unbounded sequence.
pub const SEQUENCE: u8 = 144;
