//! The interface packages of ROS 2 Jazzy.
//!
//! Each package is a module, generated from its definitions, and a Cargo feature of the same name,
//! so that programs compile only the packages they use. `all` enables all of them. `sinew_build`
//! documents the generated code.
//!
//! ```
//! use sinew_interfaces::sensor_msgs::msg::{Image, ImageView}; // with the feature `sensor_msgs`
//! use sinew_msg::{Message, view};
//!
//! let image = Image { height: 480, width: 640, encoding: "rgb8".to_owned(), ..Image::default() };
//! let encoding = Image::ENCODING.expect("generated types have one");
//! let mut bytes = vec![0; (encoding.size)(&image)];
//! (encoding.encode)(&image, &mut bytes);
//!
//! let seen: ImageView<'_> = view::view::<Image>(&bytes)?;
//! assert_eq!((seen.width, seen.encoding.to_str()), (640, Ok("rgb8")));
//! # Ok::<(), sinew_msg::DecodeError>(())
//! ```
//!
//! Two conversions are written by hand: between the times and durations of `builtin_interfaces`,
//! nanoseconds and Rust's types (`time`), and between the descriptions of
//! `type_description_interfaces` and those of `sinew_msg` (`type_description`).
//!
//! The definitions are in this crate's folder `interfaces/`, laid out as in ROS 2:
//! `sensor_msgs/msg/Image.msg`. A build script that generates its own package finds them if this
//! crate is a dependency. With the feature `definitions` their texts are compiled into the crate,
//! as `DEFINITIONS`, for tools; with the feature `hashes`, the names and hashes of all types, as
//! `HASHES`, for programs that name a type when they run.
#![deny(unsafe_code)] // except `Plain`, which generated code proves and implements

#[cfg(feature = "builtin_interfaces")]
pub mod time;
#[cfg(feature = "type_description_interfaces")]
pub mod type_description;

sinew_msg::include_interfaces!();

/// The definitions of all packages, whichever features are enabled: the full names of the types, in
/// order, and the texts of their files.
///
/// ```
/// # use sinew_interfaces::DEFINITIONS;
/// let string = DEFINITIONS.iter().find(|(name, _)| *name == "std_msgs/msg/String");
/// assert!(string.is_some_and(|(_, text)| text.contains("string data")));
/// ```
#[cfg(feature = "definitions")]
pub static DEFINITIONS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/definitions.rs"));

/// The names and hashes of all types that the packages define, whichever features are enabled, in
/// the order of the names.
///
/// ```
/// # use sinew_interfaces::{HASHES, std_msgs::msg::String as Text};
/// # use sinew_msg::Message;
/// let found = HASHES.binary_search_by_key(&"std_msgs/msg/String", |(name, _)| name);
/// assert_eq!(Some(HASHES[found.unwrap()].1), Text::ENCODING.map(|encoding| encoding.hash));
/// ```
#[cfg(feature = "hashes")]
pub static HASHES: &[(&str, sinew_msg::TypeHash)] = include!(concat!(env!("OUT_DIR"), "/hashes.rs"));
