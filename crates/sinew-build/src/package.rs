//! The module of a package.

use super::code::Code;
use super::known::Known;
use super::layout::Layouts;
use super::names::{Module, Names};
use sinew_msg::definition::{Interface, Interfaces, Kind, Role};

/// Context for generating one type.
pub(super) struct Generation<'a> {
    /// The path of `sinew-msg`.
    root: &'a str,
    pub(super) interfaces: &'a Interfaces,
    pub(super) layouts: Layouts<'a>,
    pub(super) names: Names,
    /// Whether the view of a message borrows.
    pub(super) borrowing: Known<bool>,
    /// Whether a message has parts that are built in place.
    pub(super) built: Known<bool>,
}

/// Allows lints that a crate may deny for its own code, since this code is generated.
const OPENING: &str = "
#[allow(
dead_code,
unreachable_pub,
$unsafe_code non_camel_case_types,
unused_qualifications,
clippy::all,
clippy::nursery,
clippy::pedantic,
reason = \"generated from the definitions of $package\"
)]
pub mod $kind {
use $root::__private::{self as sinew, cdr, view};
";

impl<'a> Generation<'a> {
    pub(super) fn new(root: &'a str, interfaces: &'a Interfaces, names: Names) -> Self {
        let layouts = Layouts::new(interfaces);
        Self { root, interfaces, layouts, names, borrowing: Known::new(), built: Known::new() }
    }

    pub(super) fn package(&mut self, package: &str) -> String {
        let mut code = Code::default();
        let interfaces = self.interfaces;
        for (kind, what) in
            [(Kind::Message, "messages"), (Kind::Service, "services"), (Kind::Action, "actions")]
        {
            let in_module =
                |interface: &&Interface| interface.name.package() == package && interface.name.kind() == kind;
            let mut types = interfaces.iter().filter(in_module).peekable();
            if types.peek().is_none() {
                continue;
            }
            code.add("\n", &[]);
            code.comment(&[format!("The {what} of `{package}`.")]);
            // Only where needed: a crate that forbids `unsafe_code` cannot allow it.
            let mut all = interfaces.iter().filter(in_module);
            let has_plain = all.any(|interface| {
                interface.role == Role::Message && self.layouts.of_interface(interface).plain.is_some()
            });
            let unsafe_code = if has_plain { "unsafe_code,\n" } else { "" };
            code.add(
                OPENING.trim(),
                &[
                    ("package", package),
                    ("kind", kind.name()),
                    ("root", self.root),
                    ("unsafe_code", unsafe_code),
                ],
            );
            let module = Module { package, kind };
            for interface in types {
                match interface.role {
                    Role::Message => self.message(&mut code, &module, interface),
                    Role::Service => self.service(&mut code, &module, interface),
                    Role::Action => self.action(&mut code, &module, interface),
                }
            }
            code.add("}", &[]);
        }
        code.finish()
    }
}
