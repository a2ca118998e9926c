//! How many methods a type has, in all its `impl` blocks together.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use syn::{ImplItem, Item, ItemImpl, Type};

use super::imports::{TESTS, is_for_tests, requires_test};

/// Counts the methods of each type of a folder, by its name. Those of traits don't count, nor those
/// that exist in tests only.
pub(crate) fn of_folder(folder: &Path) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    read(folder, &mut counts);
    counts
}

fn read(folder: &Path, counts: &mut BTreeMap<String, usize>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_tests = path.file_stem().is_some_and(|stem| TESTS.iter().any(|tests| stem == *tests));
        if path.is_dir() {
            read(&path, counts);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_tests {
            let file = syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap();
            file.items.iter().filter(|item| !is_for_tests(item)).for_each(|item| count(item, counts));
        }
    }
}

fn count(item: &Item, counts: &mut BTreeMap<String, usize>) {
    let Item::Impl(ItemImpl { trait_: None, self_ty, items, .. }) = item else { return };
    let Type::Path(path) = &**self_ty else { return };
    let Some(name) = path.path.segments.last() else { return };
    let is_method = |item: &&ImplItem| matches!(item, ImplItem::Fn(method) if !requires_test(&method.attrs));
    *counts.entry(name.ident.to_string()).or_default() += items.iter().filter(is_method).count();
}
