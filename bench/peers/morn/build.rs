//! Links Morn where it is: at `MORN_DIR` (with `include` and `lib`), else where `make install` of
//! Morn puts it. Without it the program only says what is missing.

use std::path::Path;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(morn)");
    println!("cargo::rerun-if-env-changed=MORN_DIR");
    let named = std::env::var("MORN_DIR").ok();
    let places = named.as_deref().map_or(vec!["/usr/local", "/usr"], |place| vec![place]);
    for place in places {
        let (header, folder) = (Path::new(place).join("include/morn_ptc.h"), Path::new(place).join("lib"));
        for file in [header.clone(), folder.clone()] {
            println!("cargo::rerun-if-changed={}", file.display());
        }
        let kind = [("libmorn.a", "static"), ("libmorn.so", "dylib")].into_iter();
        let kind = kind.filter(|(file, _)| folder.join(file).is_file()).map(|(_, kind)| kind).next();
        if let (true, Some(kind)) = (header.is_file(), kind) {
            println!("cargo::rustc-cfg=morn");
            println!("cargo::rustc-link-search=native={}", folder.display());
            println!("cargo::rustc-link-lib={kind}=morn");
            for needed in ["gomp", "m"] {
                println!("cargo::rustc-link-lib=dylib={needed}");
            }
            return;
        }
    }
}
