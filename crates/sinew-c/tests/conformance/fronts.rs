//! The front ends: how their programs are compiled, and scenarios that are played with them.

use crate::compilers::{STRICT, checked, library, root, skipped};
use crate::library::{Functions, choose};
use crate::node::{Context, Node, VirtualClock};
use crate::suite::stage::{Path, Play};
use crate::suite::support::outside::Onlooker;
use std::process::Command;
use std::sync::{Arc, OnceLock};

/// A front end.
struct Front {
    language: &'static str,
    functions: Functions,
}

/// Those for which there is a compiler.
fn fronts() -> &'static [Front] {
    static FRONTS: OnceLock<Vec<Front>> = OnceLock::new();
    FRONTS.get_or_init(|| {
        [("C", "cc", "c11", "front.c")]
            .into_iter()
            .filter(|(_, compiler, ..)| !skipped(compiler))
            .map(|(language, compiler, standard, source)| Front {
                language,
                functions: compiled(compiler, standard, source),
            })
            .collect()
    })
}

/// Compiles a program of `front` into a shared library, and loads it.
fn compiled(compiler: &str, standard: &str, source: &str) -> Functions {
    let place = tempfile::tempdir().expect("a directory");
    let (program, library) = (place.path().join("front.so"), library());
    let mut compile = Command::new(compiler);
    compile.args(STRICT).arg(format!("-std={standard}")).args(["-fPIC", "-shared", "-pthread", "-o"]);
    compile.arg(&program).arg(root().join("tests/conformance/front").join(source));
    compile.arg("-I").arg(root().join("include")).arg("-L").arg(&library).arg("-lsinew_c");
    compile.arg(format!("-Wl,-rpath,{}", library.display()));
    checked(&format!("{source} is compiled"), &compile.output().expect("the compiler runs"));
    Functions::load(&program)
}

/// A path of messages between programs of other languages. A scenario is played with one front end
/// after the other.
pub(crate) struct Elsewhere<P>(pub(crate) P);

impl<P: Path> Path for Elsewhere<P> {
    fn is_apart(&self) -> bool {
        self.0.is_apart()
    }

    fn open(&self, clock: Option<&VirtualClock>) -> (Context, Context) {
        self.0.open(clock)
    }

    fn find_out(&self, sender: &Node, receiver: &Node) {
        self.0.find_out(sender, receiver);
    }

    fn onlooker(&self) -> Onlooker {
        self.0.onlooker()
    }

    fn play(&self, scenario: Play) -> sinew::Result<()> {
        fronts().iter().try_for_each(|front| {
            println!("through {}", front.language);
            let scenario = scenario.clone();
            self.0.play(Arc::new(move || {
                choose(&front.functions);
                scenario()
            }))
        })
    }
}
