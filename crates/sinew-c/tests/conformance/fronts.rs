//! The front ends: how their programs are compiled, and scenarios that are played with them.

use crate::compilers::{STRICT, cc, checked, cxx, library, root, skipped};
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
    leaves_out: LeftOut,
}

/// Scenarios of which a language has no word, and why.
pub(crate) type LeftOut = &'static [(&'static str, &'static str)];

pub(crate) const LEFT_OUT_IN_CPP: LeftOut = &[(
    "drop_does_not_wait_but_nothing_starts_after_it",
    "destructors of C++ close: they wait for a callback that runs on another thread",
)];

/// Those for which there is a compiler.
fn fronts() -> &'static [Front] {
    static FRONTS: OnceLock<Vec<Front>> = OnceLock::new();
    FRONTS.get_or_init(|| {
        let none: LeftOut = &[];
        [("C", cc(), "c11", "front.c", none), ("C++", cxx(), "c++17", "front.cpp", LEFT_OUT_IN_CPP)]
            .into_iter()
            .filter(|(_, compiler, ..)| !skipped(compiler))
            .map(|(language, compiler, standard, source, leaves_out)| Front {
                language,
                functions: compiled(&compiler, standard, source),
                leaves_out,
            })
            .collect()
    })
}

/// Compiles a program of `front` into a shared library, and loads it.
fn compiled(compiler: &str, standard: &str, source: &str) -> Functions {
    let place = tempfile::tempdir().expect("a directory");
    let (program, library) = (place.path().join("front.so"), library());
    let mut compile = Command::new(compiler);
    compile.args(STRICT).arg(format!("-std={standard}")).args(["-g0", "-fPIC", "-shared", "-pthread", "-o"]);
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

    fn play(&self, name: &str, scenario: Play) -> sinew::Result<()> {
        fronts().iter().try_for_each(|front| {
            let language = front.language;
            if let Some((_, why)) = front.leaves_out.iter().find(|(left_out, _)| *left_out == name) {
                println!("not through {language}: {why}");
                return Ok(());
            }
            println!("through {language}");
            let scenario = scenario.clone();
            let choosing = move || {
                choose(&front.functions);
                scenario()
            };
            self.0.play(name, Arc::new(choosing))
        })
    }
}
