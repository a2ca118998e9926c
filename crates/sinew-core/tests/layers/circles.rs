//! Circles in what imports what.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::{Imports, Module};

/// Number of files up to which a folder is read as one: circles within it are allowed.
const SMALL: usize = 3;

/// An import: from, to.
type Import = (Module, Module);

/// The imports that are part of a circle.
pub(crate) fn of(imports: &Imports) -> BTreeSet<Import> {
    let folders: BTreeSet<Module> = imports.keys().map(|module| folder_of(module, imports)).collect();
    let mut found = BTreeSet::new();
    for folder in folders {
        let rooms = Rooms::of(&folder, imports);
        if rooms.names.len() > SMALL {
            found.extend(rooms.circular());
        }
    }
    found
}

/// Where a module's file lies: one that has modules of its own is the first file of its folder.
fn folder_of(module: &Module, imports: &Imports) -> Module {
    let has_own = imports.keys().any(|other| other.len() > module.len() && other.starts_with(module));
    if has_own {
        module.clone()
    } else {
        module.split_last().map_or(Module::new(), |(_, folder)| folder.to_vec())
    }
}

/// What lies in a folder: files, and folders with all that is in them.
struct Rooms<'a> {
    names: BTreeSet<&'a str>,
    /// From room to room, and the imports that lead there.
    doors: BTreeMap<(&'a str, &'a str), BTreeSet<Import>>,
}

impl<'a> Rooms<'a> {
    fn of(folder: &Module, imports: &'a Imports) -> Self {
        let room = |module: &'a Module| -> Option<&'a str> {
            let inner = module.strip_prefix(folder.as_slice())?;
            inner.first().map(String::as_str) // a file that is only the folder's index is no room
        };
        let names = imports.keys().filter_map(room).collect();
        let mut doors: BTreeMap<_, BTreeSet<Import>> = BTreeMap::new();
        for (from, used) in imports {
            for to in used {
                if let (Some(a), Some(b)) = (room(from), room(to))
                    && a != b
                {
                    doors.entry((a, b)).or_default().insert((from.clone(), to.clone()));
                }
            }
        }
        Self { names, doors }
    }

    /// Imports between rooms from each of which one comes to the other.
    fn circular(&self) -> BTreeSet<Import> {
        let circular = self.doors.iter().filter(|((from, to), _)| self.leads(to, from));
        circular.flat_map(|(_, imports)| imports.clone()).collect()
    }

    /// Whether imports lead from one room to another, in however many steps.
    fn leads(&self, from: &str, to: &str) -> bool {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(room) = next.pop() {
            if room == to {
                return true;
            }
            if seen.insert(room) {
                next.extend(self.doors.keys().filter(|(from, _)| *from == room).map(|(_, to)| *to));
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(line: &str) -> Import {
        let path = |text: &str| text.split("::").map(str::to_owned).collect::<Module>();
        let (from, to) = line.split_once(" -> ").unwrap();
        (path(from), path(to))
    }

    fn imports(lines: &[&str]) -> Imports {
        let mut imports = Imports::new();
        for (from, to) in lines.iter().map(|line| import(line)) {
            imports.entry(to.clone()).or_default();
            imports.entry(from).or_default().insert(to);
        }
        imports
    }

    #[test]
    fn a_circle_is_found_wherever_it_closes() {
        let open = ["a -> b", "b -> c", "c -> d::one", "d::one -> e"];
        assert_eq!(of(&imports(&open)), BTreeSet::new());
        let closed = [&open[..], &["e -> b"]].concat();
        let circle = ["b -> c", "c -> d::one", "d::one -> e", "e -> b"];
        assert_eq!(of(&imports(&closed)), circle.map(import).into());
    }

    #[test]
    fn small_folders_are_read_as_one() {
        let small = ["a -> b", "b -> a", "c -> a"];
        assert_eq!(of(&imports(&small)), BTreeSet::new());
        let inside = ["x::a -> x::b", "x::b -> x::c", "x::c -> x::a", "x::d -> x::a", "x::a -> y"];
        let circle = ["x::a -> x::b", "x::b -> x::c", "x::c -> x::a"];
        assert_eq!(of(&imports(&inside)), circle.map(import).into());
    }
}
