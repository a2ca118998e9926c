//! `#[derive(Message)]`, exported by `sinew-msg` and `sinew`, and `#[derive(Parameters)]`, exported
//! by `sinew`. Programs do not depend on this crate directly.

mod attributes;
mod expand;
mod parameters;

use proc_macro::TokenStream;
use quote::quote;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct with named fields a message that can leave the process.
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
#[doc = ""]
#[doc = include_str!("message.md")]
#[proc_macro_derive(Message, attributes(message))]
pub fn derive_message(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::message(&input, &quote!(::sinew_msg::__private))
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Makes a struct with named fields a message that can leave the process.
///
#[doc = include_str!("message.md")]
// For programs that use `sinew-msg` through `sinew`, which exports this macro as `Message`.
#[proc_macro_derive(MessageOfSinew, attributes(message))]
pub fn derive_message_of_sinew(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::message(&input, &quote!(::sinew::__private))
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Turns a struct with named fields into a set of parameters, or an enum without fields into the
/// type of a parameter. `sinew`'s trait of the same name documents the contents of
/// `#[parameters(..)]` above the struct and of `#[parameter(..)]` above its fields.
#[proc_macro_derive(Parameters, attributes(parameters, parameter))]
pub fn derive_parameters(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    parameters::expand(&input, &quote!(::sinew::__private))
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
