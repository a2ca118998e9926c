//! Resolves definitions to types that are fully known.

use super::derived::{FOUNDATIONS, interfaces};
use super::error::ResolveError;
use super::interface::{Interface, Role};
use super::model::{Content, Definition, ElementType, FieldDefinition};
use super::names::TypeName;
use crate::description::TypeDescription;
use crate::hash::TypeHash;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Definitions with all their types known, including the types that ROS 2 derives from them.
#[derive(Debug, Clone)]
pub struct Interfaces {
    definitions: BTreeMap<TypeName, Definition>,
    interfaces: BTreeMap<TypeName, Interface>,
}

impl Interfaces {
    /// Returns the resolved definitions, by name. Includes `builtin_interfaces/Time` and its like
    /// if a derived type needed them.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.definitions.values()
    }

    /// Returns all types, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Interface> {
        self.interfaces.values()
    }

    /// Returns the type of this name, defined or derived.
    #[must_use]
    pub fn find(&self, name: &TypeName) -> Option<&Interface> {
        self.interfaces.get(name)
    }

    /// Returns the description that decoding a type needs: its fields and those of all types in it.
    #[must_use]
    pub fn description(&self, name: &TypeName) -> Option<TypeDescription> {
        let interface = self.find(name)?;
        let mut names = BTreeSet::new();
        let mut unseen = vec![interface];
        while let Some(interface) = unseen.pop() {
            let new = interface.messages().filter(|(_, name)| names.insert(*name));
            unseen.extend(new.filter_map(|(_, name)| self.find(name)));
        }
        let referenced = names.into_iter().filter_map(|name| self.find(name));
        Some(TypeDescription {
            type_description: interface.describe(),
            referenced_type_descriptions: referenced.map(Interface::describe).collect(),
        })
    }

    /// Returns the RIHS01 hash of a type.
    #[must_use]
    pub fn hash(&self, name: &TypeName) -> Option<TypeHash> {
        self.description(name).map(|description| description.hash())
    }
}

pub(super) fn resolve(mut definitions: BTreeMap<TypeName, Definition>) -> Result<Interfaces, ResolveError> {
    if definitions.values().any(|definition| !matches!(definition.content, Content::Message(_))) {
        for (name, text) in FOUNDATIONS {
            let name: TypeName = name.parse().expect("these names are right");
            let parse = || Definition::parse(&name, name.as_str(), text).expect("these texts are right");
            definitions.entry(name.clone()).or_insert_with(parse);
        }
    }
    let all = definitions.values().flat_map(interfaces);
    let interfaces = all.map(|interface| (interface.name.clone(), interface)).collect();
    let resolved = Interfaces { definitions, interfaces };
    resolved.check_known()?;
    resolved.check_finite()?;
    Ok(resolved)
}

impl Interfaces {
    fn check_known(&self) -> Result<(), ResolveError> {
        for interface in self.iter() {
            if let Some((field, unknown)) =
                interface.messages().find(|(_, name)| !self.interfaces.contains_key(name))
            {
                return Err(ResolveError::Unknown {
                    place: field.place.clone(),
                    name: interface.name.clone(),
                    field: field.name.clone(),
                    unknown: unknown.clone(),
                    hint: self.hint(unknown).into(),
                });
            }
        }
        Ok(())
    }

    /// Suggests a remedy for an unknown type.
    fn hint(&self, unknown: &TypeName) -> String {
        let same_base = self.iter().filter(|interface| interface.name.base() == unknown.base());
        let meant: Vec<String> = same_base
            .filter(|interface| interface.role == Role::Message)
            .map(|interface| format!("`{}`", ElementType::Message(interface.name.clone())))
            .collect();
        if !meant.is_empty() {
            return format!("perhaps {} is meant", meant.join(" or "));
        }
        let package = unknown.package();
        if self.iter().any(|interface| interface.name.package() == package) {
            format!("{package} has no message of this name")
        } else {
            format!("add the definitions of {package}")
        }
    }

    /// Checks all types, depth first, without recursion.
    fn check_finite(&self) -> Result<(), ResolveError> {
        let mut done = HashSet::new();
        for start in self.iter() {
            let mut path = vec![(start, start.messages())];
            let mut on_path = HashSet::from([&start.name]);
            while let Some((interface, messages)) = path.last_mut() {
                let interface = *interface;
                let Some((field, name)) = messages.next() else {
                    done.insert(&interface.name);
                    on_path.remove(&interface.name);
                    path.pop();
                    continue;
                };
                if on_path.contains(name) {
                    let path: Vec<&Interface> = path.iter().map(|(interface, _)| *interface).collect();
                    return Err(recursive(&path, field, name));
                }
                if !done.contains(name)
                    && let Some(next) = self.find(name)
                {
                    on_path.insert(name);
                    path.push((next, next.messages()));
                }
            }
        }
        Ok(())
    }
}

/// Returns the error for a field in the last type of the path with the type of an earlier one.
fn recursive(path: &[&Interface], last: &FieldDefinition, name: &TypeName) -> ResolveError {
    let circle = path.iter().skip_while(|interface| interface.name != *name);
    let circle: Vec<&Interface> = circle.copied().collect();
    let step = |from: &Interface, field: &str, to: &TypeName| format!("`{field}` of {} is a {to}", from.name);
    let mut cycle: Vec<String> = circle
        .windows(2)
        .filter_map(|pair| {
            let (field, to) = pair[0].messages().find(|(_, to)| **to == pair[1].name)?;
            Some(step(pair[0], &field.name, to))
        })
        .collect();
    cycle.extend(circle.last().map(|from| step(from, &last.name, name)));
    ResolveError::Recursive { place: last.place.clone(), name: name.clone(), cycle }
}
