//! `#[derive(Message)]`, which `sinew-msg` and `sinew` export, and `#[derive(Parameters)]`, which
//! `sinew` exports; nobody needs this crate itself.

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
// For programs that know `sinew-msg` by way of `sinew`, which exports this one as `Message`.
#[proc_macro_derive(MessageOfSinew, attributes(message))]
pub fn derive_message_of_sinew(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::message(&input, &quote!(::sinew::__private))
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Makes a struct with named fields one of parameters, or an enum without fields the type of a
/// parameter. `sinew`'s trait of that name says what can stand in `#[parameters(..)]` above it and in
/// `#[parameter(..)]` above its fields.
#[proc_macro_derive(Parameters, attributes(parameters, parameter))]
pub fn derive_parameters(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    parameters::expand(&input, &quote!(::sinew::__private))
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
