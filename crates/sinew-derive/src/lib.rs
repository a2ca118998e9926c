//! `#[derive(Message)]`. `sinew-msg` and `sinew` export it; nobody needs this crate itself.

mod attributes;
mod expand;

use proc_macro::TokenStream;
use quote::quote;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct with named fields a message that can leave the process.
///
/// It implements `Message` with an `ENCODING`, and `cdr::Field`, so that other messages can have fields of this type. The
/// fields' types can be `bool`, integers of up to 64 bits, `f32`, `f64`, `String`, other structs with this derive, and
/// `Vec` and arrays of all these. The struct has no parameters. What its image looks like is in the documentation of
/// `sinew_msg::cdr`.
///
/// ```
/// use sinew_msg::Message;
///
/// #[derive(Message, Clone, Copy)]
/// #[message(name = "geometry_msgs/msg/Point", plain)]
/// #[repr(C)]
/// struct Point {
///     x: f64,
///     y: f64,
///     z: f64,
/// }
///
/// #[derive(Message)]
/// struct Path {
///     frame: String,
///     points: Vec<Point>,
/// }
///
/// assert_eq!(Point::ENCODING.unwrap().name, "geometry_msgs/msg/Point");
/// assert!(Path::ENCODING.unwrap().name.ends_with("/msg/Path"));
/// ```
///
/// # `#[message(name = "package/msg/Type")]`
///
/// The ROS 2 name of the type. Without it, it is the Cargo package (with `_` for `-`), `msg` and the struct's name. Programs
/// that talk to each other need the same name: give one to a type that two packages define, and to types of one
/// package with the same name in different modules.
///
/// # `#[message(plain)]`
///
/// Asks for values that can be written and read in place (`Plain`). The compiler then proves that a value looks in memory as
/// in its image: the struct is `#[repr(C)]` and `Copy`, its fields are plain (numbers, arrays of plain types, plain
/// structs), and there is no padding, also none at the end. What is not so is an error that says where.
///
/// The promise is an `unsafe impl` in the generated code, so it can't be had in a crate with `#![forbid(unsafe_code)]`
/// (`deny` is all right).
///
/// # The type's hash
///
/// Made of the type's name, its fields' names and types, and those of nested structs: equal types have equal hashes. It
/// isn't ROS 2's hash of the type (RIHS01) yet.
#[proc_macro_derive(Message, attributes(message))]
pub fn derive_message(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::message(&input, &quote!(::sinew_msg)).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// [`Message`] for programs that know `sinew-msg` by way of `sinew`, which exports it as `Message`.
#[proc_macro_derive(MessageOfSinew, attributes(message))]
pub fn derive_message_of_sinew(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::message(&input, &quote!(::sinew)).unwrap_or_else(|error| error.to_compile_error()).into()
}
