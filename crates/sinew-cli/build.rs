//! Embeds the definitions of ROS 2's interface packages, so that the command knows them wherever it runs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sinew-interfaces/interfaces");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut text = "&[\n".to_owned();
    for package in sorted(&folder)? {
        for kind in sorted(&package)?.into_iter().filter(|kind| kind.is_dir()) {
            for file in sorted(&kind)? {
                let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let (package, kind, base) = (name(&package), name(&kind), name(&file));
                let file = fs::canonicalize(&file)?;
                writeln!(text, "    (\"{package}/{kind}/{base}\", include_str!({file:?})),")
                    .map_err(io::Error::other)?;
            }
        }
    }
    let to = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("definitions.rs");
    fs::write(to, text + "]")
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
