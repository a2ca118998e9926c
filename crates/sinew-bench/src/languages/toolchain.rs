//! The compilers of C and C++ on this machine, and the shared library for their programs.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Directory, Error};

/// Names of the shared library: as CMake makes it, and as cargo does.
const NAMES: [&str; 2] = ["libsinew.so", "libsinew_c.so"];

/// A language that has to be compiled for a measurement or a demonstration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C17.
    C,
    /// C++17.
    Cpp,
}

impl Language {
    /// Returns its name, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::C => "C",
            Self::Cpp => "C++",
        }
    }

    /// Returns the environment variable that names its compiler, and the compiler without one.
    fn compiler(self) -> (&'static str, &'static str) {
        match self {
            Self::C => ("CC", "cc"),
            Self::Cpp => ("CXX", "c++"),
        }
    }

    /// Returns the environment variable with the user's options, which come last.
    fn flags(self) -> &'static str {
        match self {
            Self::C => "CFLAGS",
            Self::Cpp => "CXXFLAGS",
        }
    }

    fn options(self) -> &'static [&'static str] {
        match self {
            Self::C => &["-std=gnu17", "-D_GNU_SOURCE"],
            Self::Cpp => &["-std=c++17"],
        }
    }
}

/// Compiles programs of C and C++ that use Sinew. They are removed with it.
pub struct Toolchain {
    library: PathBuf,
    headers: PathBuf,
    programs: Directory,
}

impl Toolchain {
    /// Finds the library: the named one (a file, or its directory), or the one beside this program,
    /// or the one that pkg-config knows; and its headers: of the installation or the checkout to
    /// which it belongs.
    ///
    /// # Errors
    ///
    /// If there is no library, or no headers for it. Whether there are compilers shows when they are
    /// used.
    pub fn find(named: Option<&Path>) -> Result<Self, Error> {
        let library = match named {
            Some(path) => library_at(path).ok_or_else(|| format!("at {}", path.display())),
            None => beside_this_program()
                .or_else(known_to_pkg_config)
                .ok_or_else(|| "beside this program, nor known to pkg-config".to_owned()),
        };
        let library = library.map_err(|place| Error::NoLibrary { place })?;
        let headers = headers_of(&library).ok_or_else(|| Error::NoHeaders { library: library.clone() })?;
        Ok(Self { library, headers, programs: Directory::for_programs()? })
    }

    /// Returns the file of the library.
    pub fn library(&self) -> &Path {
        &self.library
    }

    /// Returns the directory of programs.
    pub(crate) fn programs(&self) -> &Path {
        self.programs.path()
    }

    /// Writes a file that programs include, by its path in their `#include`.
    ///
    /// # Errors
    ///
    /// If it can't be written.
    pub fn add(&self, path: &str, text: &str) -> Result<PathBuf, Error> {
        let path = self.programs.path().join(path);
        let parent = path.parent().unwrap_or(self.programs.path());
        let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, text));
        written.map_err(|source| Error::File { action: "write", path: path.clone(), source })?;
        Ok(path)
    }

    /// Compiles a source with optimisation, with the includes that were [added](Self::add), and
    /// returns the program.
    ///
    /// # Errors
    ///
    /// If there is no compiler, or it refuses the source.
    pub fn compile(&self, language: Language, name: &str, source: &str) -> Result<PathBuf, Error> {
        self.compile_with(language, name, source, &[])
    }

    /// As [`compile`](Self::compile), with more options of the compiler.
    ///
    /// # Errors
    ///
    /// As `compile`.
    pub fn compile_with(
        &self,
        language: Language,
        name: &str,
        source: &str,
        options: &[&str],
    ) -> Result<PathBuf, Error> {
        let source = self.add(name, source)?;
        let program = source.with_extension("");
        let (variable, default) = language.compiler();
        let compiler = env::var(variable).ok().filter(|name| !name.trim().is_empty());
        let compiler = compiler.unwrap_or_else(|| default.to_owned());
        // CC may be `ccache cc`.
        let mut words = compiler.split_whitespace();
        let mut compile = Command::new(words.next().unwrap_or(default));
        compile.args(words).args(language.options()).args(["-O2", "-pthread", "-I"]);
        compile.arg(self.programs()).arg("-I").arg(&self.headers).args(options);
        compile.args(env::var(language.flags()).unwrap_or_default().split_whitespace());
        compile.arg(&source).arg("-o").arg(&program).arg(&self.library);
        let place = self.library.parent().unwrap_or(Path::new("."));
        compile.arg(format!("-Wl,-rpath,{}", place.display()));
        let output = compile.output().map_err(|source| match source.kind() {
            ErrorKind::NotFound => {
                Error::NoCompiler { language: language.name(), program: compiler.clone(), variable }
            }
            _ => Error::File { action: "run the compiler", path: PathBuf::from(&compiler), source },
        })?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            let library = self.library.clone();
            return Err(Error::NotCompiled { name: name.to_owned(), library, message });
        }
        Ok(program)
    }
}

/// Returns the library that a path means: itself, or one in that directory.
fn library_at(path: &Path) -> Option<PathBuf> {
    let files = NAMES.iter().map(|name| path.join(name));
    // Absolute: programs are run from elsewhere.
    [path.to_owned()].into_iter().chain(files).find(|file| file.is_file())?.canonicalize().ok()
}

fn beside_this_program() -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    let folder = program.parent()?;
    let prefix = folder.join("..");
    let multiarch = format!("lib/{}-linux-gnu", env::consts::ARCH);
    let folders = [folder.to_owned(), prefix.join("lib"), prefix.join("lib64"), prefix.join(multiarch)];
    folders.iter().find_map(|folder| library_at(folder))
}

fn known_to_pkg_config() -> Option<PathBuf> {
    let asked = Command::new("pkg-config").args(["--variable=libdir", "sinew"]).output().ok()?;
    let folder = String::from_utf8(asked.stdout).ok()?;
    library_at(Path::new(Some(folder.trim()).filter(|folder| !folder.is_empty())?))
}

/// Returns the directory with `sinew/sinew.h`: of the library's installation, or of the checkout that
/// contains it or this program.
fn headers_of(library: &Path) -> Option<PathBuf> {
    let program = env::current_exe().ok();
    let installed = library.ancestors().skip(2).take(2).map(|above| above.join("include"));
    let checkouts = [Some(library), program.as_deref()].into_iter().flatten();
    let checkouts = checkouts.flat_map(Path::ancestors).map(|above| above.join("crates/sinew-c/include"));
    installed.chain(checkouts).find(|folder| folder.join("sinew/sinew.h").is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_a_file_or_in_a_directory() {
        let prefix = tempfile::tempdir().unwrap();
        let (lib, include) = (prefix.path().join("lib"), prefix.path().join("include"));
        fs::create_dir_all(&lib).unwrap();
        assert_eq!(library_at(&lib), None);
        let file = lib.join("libsinew.so");
        fs::write(&file, "").unwrap();
        let file = file.canonicalize().unwrap();
        assert_eq!(library_at(&lib), Some(file.clone()));
        assert_eq!(library_at(&file), Some(file.clone()));
        fs::create_dir_all(include.join("sinew")).unwrap();
        fs::write(include.join("sinew/sinew.h"), "").unwrap();
        assert_eq!(headers_of(&file), Some(include.canonicalize().unwrap()));
    }

    #[test]
    fn what_is_missing_is_named() {
        let empty = tempfile::tempdir().unwrap();
        let sentence = Toolchain::find(Some(empty.path())).err().unwrap().to_string();
        let place = empty.path().display().to_string();
        assert!(sentence.contains(&place) && sentence.contains("--library PATH"), "{sentence}");
    }
}
