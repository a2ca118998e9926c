//! ROS 2's interface packages, as of Jazzy.
//!
//! Each package is a module, generated from its definitions, and a Cargo feature of the same name,
//! so that nobody compiles what they don't use. `all` is all of them. What is generated says
//! `sinew_build`.
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
//! What is not generated: `builtin_interfaces`' times and durations come from nanoseconds and from
//! Rust's, and go back to them (`time`); `type_description_interfaces`' descriptions come from those of
//! `sinew_msg`, and go back to them (`type_description`).
//!
//! The definitions lie in this crate's folder `interfaces/`, as they do in ROS 2:
//! `sensor_msgs/msg/Image.msg`. A build script that generates a package of its own finds them if
//! this crate is among the dependencies. With the feature `definitions` their texts are in the
//! crate itself, as `DEFINITIONS`: for tools.
#![deny(unsafe_code)] // but for `Plain`, which generated code proves and implements

#[cfg(feature = "builtin_interfaces")]
pub mod time;
#[cfg(feature = "type_description_interfaces")]
pub mod type_description;

sinew_msg::include_interfaces!();

/// The definitions of all packages, whichever features are on: the full names of their types, in
/// order, and the texts of their files.
///
/// ```
/// # use sinew_interfaces::DEFINITIONS;
/// let string = DEFINITIONS.iter().find(|(name, _)| *name == "std_msgs/msg/String");
/// assert!(string.is_some_and(|(_, text)| text.contains("string data")));
/// ```
#[cfg(feature = "definitions")]
pub static DEFINITIONS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/definitions.rs"));
