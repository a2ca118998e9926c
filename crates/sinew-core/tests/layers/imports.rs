//! Which module of a crate uses which other one, read from its sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Item, ItemMod, ItemUse, UseTree, Visibility};

/// A module's path from the crate's root, without `crate`. A folder's own file (`mod.rs`, `lib.rs`,
/// `main.rs`, or `folder.rs` beside the folder) that defines items is a module of the folder like the
/// others, under the file's name; one that only declares and re-exports is the folder itself.
pub(crate) type Module = Vec<String>;

/// For each module that has a file, the modules with files that it uses.
pub(crate) type Imports = BTreeMap<Module, BTreeSet<Module>>;

/// Modules that hold tests only: they may use anything.
pub(crate) const TESTS: [&str; 3] = ["tests", "models", "properties"];

/// The contents of one file that matter here.
#[derive(Default)]
struct File {
    /// The file's name without its ending.
    stem: String,
    /// Whether it defines items, apart from modules, re-exports and tests.
    defines: bool,
    /// Paths that it names, from the crate's root.
    paths: Vec<Module>,
    /// Names that it re-exports (`pub use`), each below the path of its inline module, and their
    /// origins: None in another crate.
    passes_on: BTreeMap<Vec<String>, Option<Module>>,
    /// Modules whose names it all passes on (`pub use there::*`).
    passes_all_on: Vec<Module>,
}

/// Reads the sources of a crate.
pub(crate) fn of_crate(sources: &Path) -> Imports {
    let mut files = BTreeMap::new();
    read_folder(sources, &Module::new(), &mut files);
    let folders: BTreeSet<&[String]> =
        files.keys().filter_map(|module| Some(module.split_last()?.1)).collect();
    let room = |module: &Module| {
        let File { stem, defines, .. } = &files[module];
        let own = (*defines && folders.contains(module.as_slice())).then(|| stem.clone());
        module.iter().cloned().chain(own).collect::<Module>()
    };
    let imports = files.iter().map(|(module, file)| {
        let used =
            file.paths.iter().filter_map(|path| defined_in(&files, path, 0)).filter(|used| used != module);
        (room(module), used.map(|used| room(&used)).collect())
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
            let declared = syntax.items.iter().filter_map(declared_module).collect();
            let mut reader =
                Reader { module: module.clone(), depth: module.len(), declared, file: File::default() };
            reader.visit_file(&syntax);
            let defines = syntax.items.iter().any(is_definition);
            files.insert(module, File { stem: name, defines, ..reader.file });
        }
    }
}

/// The module with the definition of the item at `path`, through re-exports. None for an item of
/// another crate.
fn defined_in(files: &BTreeMap<Module, File>, path: &[String], depth: u32) -> Option<Module> {
    let length = (0..=path.len()).rev().find(|&length| files.contains_key(&path[..length])).unwrap_or(0);
    let (module, rest) = path.split_at(length);
    let file = &files[module];
    if depth < 16
        && let Some(name) = rest.first()
    {
        if let Some(origin) = (1..=rest.len()).find_map(|length| file.passes_on.get(&rest[..length])) {
            return defined_in(files, origin.as_ref()?, depth + 1);
        }
        // Of a glob, only names that its origin re-exports in turn are followed.
        let has_name = |origin: &&Module| {
            files.get(*origin).is_some_and(|file| file.passes_on.contains_key(std::slice::from_ref(name)))
        };
        if let Some(origin) = file.passes_all_on.iter().find(has_name) {
            return defined_in(files, &[origin, rest].concat(), depth + 1);
        }
    }
    Some(module.to_vec())
}

struct Reader {
    module: Module,
    /// Names of the modules that the file declares, which have files of their own: paths may begin
    /// with them.
    declared: BTreeSet<String>,
    /// Length of the file's own path; the rest of `module` are inline modules.
    depth: usize,
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
            name if self.declared.contains(name) => {
                self.module.iter().cloned().chain([name.to_owned()]).collect()
            }
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
        if let [alone] = written
            && ["crate", "self", "super"].contains(&alone.as_str())
        {
            return; // a visibility in the tokens of a macro
        }
        self.file.paths.extend(self.resolved(written));
    }

    /// A re-export: its path as it is written, and its new name or none for a glob.
    fn pass_on(&mut self, written: &[String], name: Option<&str>) {
        let origin = self.resolved(written);
        match name {
            Some(name) => {
                let inline = &self.module[self.depth..];
                let name = inline.iter().cloned().chain([name.to_owned()]).collect();
                drop(self.file.passes_on.insert(name, origin));
            }
            None => self.file.passes_all_on.extend(origin),
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

/// The name of a module that an item declares, if that module has a file of its own.
fn declared_module(item: &Item) -> Option<String> {
    match item {
        Item::Mod(module) if module.content.is_none() => Some(module.ident.to_string()),
        _ => None,
    }
}

/// Whether an item makes its file more than an index.
fn is_definition(item: &Item) -> bool {
    !matches!(item, Item::Mod(_) | Item::Use(_) | Item::ExternCrate(_)) && !is_for_tests(item)
}

/// Whether an item exists in tests, or models, only.
pub(crate) fn is_for_tests(item: &Item) -> bool {
    let attributes = match item {
        Item::Mod(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        _ => return false,
    };
    requires_test(attributes)
}

/// Whether the attributes have a `cfg` for tests, or models, only.
pub(crate) fn requires_test(attributes: &[syn::Attribute]) -> bool {
    let condition =
        |attribute: &syn::Attribute| attribute.meta.require_list().ok().map(|list| list.tokens.clone());
    let cfgs = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    cfgs.filter_map(condition).any(names_test)
}

/// Whether `test` stands in a `cfg` other than within `not(..)`.
fn names_test(condition: TokenStream) -> bool {
    let mut is_negated = false;
    condition.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => {
            is_negated = ident == "not";
            ident == "test"
        }
        TokenTree::Group(group) => !is_negated && names_test(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
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

    fn visit_visibility(&mut self, _: &'a Visibility) {} // `pub(super)` imports nothing

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
