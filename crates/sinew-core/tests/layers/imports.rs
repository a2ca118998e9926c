//! Which module of a crate uses which other one, read from its sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Item, ItemMod, ItemUse, UseTree, Visibility};

/// A module's path from the crate's root, without `crate`.
pub(crate) type Module = Vec<String>;

/// For each module that has a file, the modules with files that it uses.
pub(crate) type Imports = BTreeMap<Module, BTreeSet<Module>>;

/// Modules that hold tests only: they may use anything.
const TESTS: [&str; 3] = ["tests", "models", "properties"];

/// What one file says.
#[derive(Default)]
struct File {
    /// Paths that it names, from the crate's root.
    paths: Vec<Module>,
    /// What it passes on under a name (`pub use`), and where that is from.
    passes_on: BTreeMap<String, Module>,
    /// Modules whose names it all passes on (`pub use there::*`).
    passes_all_on: Vec<Module>,
}

/// Reads the sources of a crate.
pub(crate) fn of_crate(sources: &Path) -> Imports {
    let mut files = BTreeMap::new();
    read_folder(sources, &Module::new(), &mut files);
    let resolve = |path: &Module| defined_in(&files, path, 0);
    let imports = files.iter().map(|(module, file)| {
        let used = file.paths.iter().map(resolve).filter(|used| used != module);
        (module.clone(), used.collect())
    });
    imports.collect()
}

fn read_folder(folder: &Path, module: &Module, files: &mut BTreeMap<Module, File>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if TESTS.contains(&name.as_str()) {
            continue;
        }
        let inner = || module.iter().cloned().chain([name.clone()]).collect::<Module>();
        if path.is_dir() {
            if name != "bin" {
                read_folder(&path, &inner(), files);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let is_folders_own = matches!(name.as_str(), "mod" | "lib" | "main");
            let module = if is_folders_own { module.clone() } else { inner() };
            let syntax = syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap();
            let mut reader = Reader { module: module.clone(), file: File::default() };
            reader.visit_file(&syntax);
            files.insert(module, reader.file);
        }
    }
}

/// The module whose file defines what stands at `path`: through what others pass on.
fn defined_in(files: &BTreeMap<Module, File>, path: &Module, depth: u32) -> Module {
    let length = (0..=path.len()).rev().find(|&length| files.contains_key(&path[..length])).unwrap_or(0);
    let (module, rest) = path.split_at(length);
    let file = &files[module];
    if let Some(name) = rest.first().filter(|_| depth < 16) {
        if let Some(origin) = file.passes_on.get(name) {
            return defined_in(files, origin, depth + 1);
        }
        // Of what is passed on as a whole, only names that are passed on there in turn are
        // followed.
        let through = file
            .passes_all_on
            .iter()
            .find(|origin| files.get(*origin).is_some_and(|file| file.passes_on.contains_key(name)));
        if let Some(origin) = through {
            let path = origin.iter().cloned().chain(rest.iter().cloned()).collect();
            return defined_in(files, &path, depth + 1);
        }
    }
    module.to_vec()
}

struct Reader {
    module: Module,
    file: File,
}

impl Reader {
    /// A path as it is written, from the crate's root. None for one that leads out of the crate.
    fn resolved(&self, written: &[String]) -> Option<Module> {
        let (first, rest) = written.split_first()?;
        let mut path = match first.as_str() {
            "crate" => Module::new(),
            "self" => self.module.clone(),
            "super" => self.module.split_last()?.1.to_vec(),
            _ => return None,
        };
        for name in rest {
            match name.as_str() {
                "super" => drop(path.pop()),
                "self" => {}
                name => path.push(name.to_owned()),
            }
        }
        Some(path)
    }

    fn name(&mut self, written: &[String]) {
        self.file.paths.extend(self.resolved(written));
    }

    /// `origin` as written; a name alone is one of the module's own modules.
    fn pass_on(&mut self, written: &[String], name: Option<&str>) {
        let below = || Some(self.module.iter().chain(written).cloned().collect());
        let Some(origin) = self.resolved(written).or_else(below) else { return };
        match name {
            Some(name) => drop(self.file.passes_on.insert(name.to_owned(), origin)),
            None => self.file.passes_all_on.push(origin),
        }
    }

    fn read_use(&mut self, tree: &UseTree, before: &mut Vec<String>, is_passed_on: bool) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.read_use(&path.tree, before, is_passed_on);
                before.pop();
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.read_use(tree, before, is_passed_on));
            }
            UseTree::Name(_) | UseTree::Rename(_) => {
                let (name, new) = match tree {
                    UseTree::Rename(rename) => (rename.ident.to_string(), rename.rename.to_string()),
                    UseTree::Name(name) => (name.ident.to_string(), name.ident.to_string()),
                    _ => return,
                };
                let new = if new == "self" { before.last().cloned().unwrap_or_default() } else { new };
                let path: Vec<_> = before.iter().cloned().chain([name]).collect();
                if is_passed_on { self.pass_on(&path, Some(&new)) } else { self.name(&path) }
            }
            UseTree::Glob(_) if is_passed_on => self.pass_on(&before.clone(), None),
            UseTree::Glob(_) => self.name(&before.clone()),
        }
    }

    /// Paths in what a macro is given, which has no syntax of its own.
    fn read_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) if path.is_empty() || colons == 2 => {
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => colons += 1,
                token => {
                    self.name(&std::mem::take(&mut path));
                    colons = 0;
                    match token {
                        TokenTree::Ident(ident) => path.push(ident.to_string()),
                        TokenTree::Group(group) => self.read_tokens(group.stream()),
                        TokenTree::Punct(_) | TokenTree::Literal(_) => {}
                    }
                }
            }
        }
        self.name(&path);
    }
}

/// Whether an item is there in tests, or models, only.
fn is_for_tests(item: &Item) -> bool {
    let attributes = match item {
        Item::Mod(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        _ => return false,
    };
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.meta.require_list().is_ok_and(|list| {
                let condition = list.tokens.to_string();
                condition.contains("test") && !condition.contains("not")
            })
    })
}

impl<'a> Visit<'a> for Reader {
    fn visit_item(&mut self, item: &'a Item) {
        if !is_for_tests(item) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        // Inner modules belong to their file; their `super` is the file's own module.
        if item.content.is_some() {
            self.module.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'a ItemUse) {
        let is_passed_on = !matches!(item.vis, Visibility::Inherited);
        self.read_use(&item.tree, &mut Vec::new(), is_passed_on);
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        self.name(&path.segments.iter().map(|segment| segment.ident.to_string()).collect::<Vec<_>>());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'a syn::Macro) {
        self.visit_path(&called.path);
        self.read_tokens(called.tokens.clone());
    }
}
