//! Rust names for definitions.

use super::error::GenerateError;
use sinew_msg::definition::{ElementType, FieldType, Interfaces, Kind, Primitive, Shape, TypeName};
use std::collections::{BTreeMap, BTreeSet};

/// The Rust names of types.
pub(super) struct Names {
    /// The names of messages, services and actions, in their modules.
    types: BTreeMap<TypeName, Own>,
    /// The names used in each module, which must stay unique.
    taken: BTreeMap<(String, Kind), BTreeSet<String>>,
    /// Packages in other crates, with their path.
    elsewhere: BTreeMap<String, String>,
}

/// The names of a type and of its companions.
struct Own {
    name: String,
    view: String,
    lengths: String,
    parts: String,
}

/// Keywords that a raw identifier can use, including reserved ones.
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Returns the identifier of a field or package.
pub(super) fn identifier(name: &str) -> String {
    if KEYWORDS.contains(&name) {
        format!("r#{name}")
    } else if ["self", "super", "crate"].contains(&name) {
        format!("{name}_") // not allowed even as raw identifiers
    } else {
        name.to_owned()
    }
}

impl Names {
    pub(super) fn new(
        interfaces: &Interfaces,
        elsewhere: BTreeMap<String, String>,
    ) -> Result<Self, GenerateError> {
        let mut names = Self { types: BTreeMap::new(), taken: BTreeMap::new(), elsewhere };
        // Names from definitions come first: they have no underscores.
        let (derived, given): (Vec<_>, Vec<_>) =
            interfaces.iter().map(|interface| &interface.name).partition(|name| name.base().contains('_'));
        let mut own = Vec::new();
        for name in given.into_iter().chain(derived) {
            if name.base() == "Self" {
                let mut definitions = interfaces.definitions();
                let file =
                    definitions.find(|definition| definition.name == *name).map(|it| it.file.to_string());
                return Err(GenerateError::Name { name: name.clone(), file: file.unwrap_or_default() });
            }
            own.push((name, names.free(name, name.base())));
        }
        for (type_name, name) in own {
            let [view, lengths, parts] =
                ["View", "Lengths", "Parts"].map(|suffix| names.free(type_name, &format!("{name}_{suffix}")));
            names.types.insert(type_name.clone(), Own { name, view, lengths, parts });
        }
        Ok(names)
    }

    /// Returns a free name in the module of `beside`: the given one in camel case, or unchanged if
    /// that name is taken.
    fn free(&mut self, beside: &TypeName, name: &str) -> String {
        let taken = self.taken.entry((beside.package().to_owned(), beside.kind())).or_default();
        let plain = name.replace('_', "");
        let mut own = if taken.contains(&plain) { name.to_owned() } else { plain };
        while !taken.insert(own.clone()) {
            own.push('_');
        }
        own
    }

    /// Returns the name of a type in its own module.
    pub(super) fn own(&self, name: &TypeName) -> &str {
        &self.types[name].name
    }

    pub(super) fn view(&self, name: &TypeName) -> &str {
        &self.types[name].view
    }

    pub(super) fn lengths(&self, name: &TypeName) -> &str {
        &self.types[name].lengths
    }

    pub(super) fn parts(&self, name: &TypeName) -> &str {
        &self.types[name].parts
    }

    /// Returns an item of the standard prelude, with a path if the module has a type of this name.
    pub(super) fn prelude(&self, module: &Module<'_>, name: &str, path: &str) -> String {
        let taken = self.taken.get(&(module.package.to_owned(), module.kind));
        if taken.is_some_and(|taken| taken.contains(name)) { path.to_owned() } else { name.to_owned() }
    }

    /// Returns the path from a module to that of another type, with `::` at its end; empty if they
    /// are the same.
    pub(super) fn path(&self, module: &Module<'_>, name: &TypeName) -> String {
        let kind = name.kind();
        if let Some(path) = self.elsewhere.get(name.package()) {
            return format!("{path}::{kind}::");
        }
        match (name.package() == module.package, kind == module.kind) {
            (true, true) => String::new(),
            (true, false) => format!("super::{kind}::"),
            (false, _) => format!("super::super::{}::{kind}::", identifier(name.package())),
        }
    }

    pub(super) fn message(&self, module: &Module<'_>, name: &TypeName) -> String {
        format!("{}{}", self.path(module, name), self.own(name))
    }

    pub(super) fn element(&self, module: &Module<'_>, element: &ElementType) -> String {
        match element {
            ElementType::Primitive(primitive) => rust_primitive(*primitive).to_owned(),
            ElementType::String { bound: None } => self.prelude(module, "String", "::std::string::String"),
            ElementType::String { bound: Some(bound) } => format!("cdr::BoundedString<{bound}>"),
            ElementType::WString { bound: None } => "cdr::WString".to_owned(),
            ElementType::WString { bound: Some(bound) } => format!("cdr::BoundedWString<{bound}>"),
            ElementType::Message(name) => self.message(module, name),
        }
    }

    pub(super) fn field(&self, module: &Module<'_>, FieldType { element, shape }: &FieldType) -> String {
        let element = self.element(module, element);
        match shape {
            Shape::Single => element,
            Shape::Array(count) => format!("[{element}; {count}]"),
            Shape::BoundedSequence(bound) => format!("cdr::BoundedVec<{element}, {bound}>"),
            Shape::Sequence => format!("{}<{element}>", self.prelude(module, "Vec", "::std::vec::Vec")),
        }
    }
}

/// The module of some code: `package::kind`.
#[derive(Clone, Copy)]
pub(super) struct Module<'a> {
    pub(super) package: &'a str,
    pub(super) kind: Kind,
}

pub(super) fn rust_primitive(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Bool => "bool",
        Primitive::Byte | Primitive::Char | Primitive::Uint8 => "u8",
        Primitive::Int8 => "i8",
        Primitive::Int16 => "i16",
        Primitive::Uint16 => "u16",
        Primitive::Int32 => "i32",
        Primitive::Uint32 => "u32",
        Primitive::Int64 => "i64",
        Primitive::Uint64 => "u64",
        Primitive::Float32 => "f32",
        Primitive::Float64 => "f64",
    }
}
