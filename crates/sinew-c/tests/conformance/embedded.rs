//! The front end of Python: an interpreter in this process, and the functions that `front.py` makes.

use crate::compilers::{root, skip};
use crate::library::{Functions, Library, NAMES};
use std::env;
use std::ffi::{CString, OsString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;

/// Starts an interpreter, and returns the functions of its front end. `None`, with a word about it, if
/// there is none that can be embedded.
pub(crate) fn front() -> Option<Functions> {
    let module = env::current_exe().expect("this program").with_file_name("lib_sinew.so");
    if !module.is_file() {
        skip("the front end of Python: lib_sinew.so was not built (cargo build -p sinew-python)");
        return None;
    }
    let Some(Shared { library, home }) = shared() else {
        skip(
            "the front end of Python: there is no Python 3.11 or newer with a shared library (SINEW_PYTHON)",
        );
        return None;
    };
    let mut addresses = vec![ptr::null::<c_void>(); NAMES.len()];
    start(&library, &home, &program(&module, addresses.as_mut_ptr().addr()));
    let mut addresses = addresses.into_iter();
    Some(Functions::found_by(|_| addresses.next().expect("one for each name")))
}

/// The shared library of an interpreter, and the folder with its standard library.
struct Shared {
    library: PathBuf,
    home: String,
}

/// Finds the interpreter of `SINEW_PYTHON`, else the first one that is new enough and has a shared
/// library.
fn shared() -> Option<Shared> {
    const QUESTION: &str = "import sys, sysconfig as at; \
        print(at.get_config_var('LIBDIR'), at.get_config_var('INSTSONAME'), sys.base_prefix, sep='\\n'); \
        sys.exit(sys.version_info < (3, 11) or not at.get_config_var('Py_ENABLE_SHARED'))";
    let named = env::var_os("SINEW_PYTHON");
    let known = ["python3", "python3.14", "python3.13", "python3.12", "python3.11"].map(OsString::from);
    named.into_iter().chain(known).find_map(|python| {
        let output = Command::new(python).args(["-c", QUESTION]).output().ok()?;
        let answer = String::from_utf8(output.stdout).ok()?;
        let mut lines = answer.lines();
        let library = Path::new(lines.next()?).join(lines.next()?);
        let home = lines.next()?.to_owned();
        (output.status.success() && library.is_file()).then_some(Shared { library, home })
    })
}

/// The program that the interpreter begins with. It has the package of the sources, with the module that
/// cargo built, and writes nothing beside them.
fn program(module: &Path, addresses: usize) -> CString {
    let folder = root().join("tests/conformance/front/python");
    let package = root().join("../../python");
    let names = NAMES.map(|name| format!("{name:?}")).join(", ");
    let text = format!(
        "import sys, importlib.util, importlib.machinery as machinery\n\
         sys.dont_write_bytecode = True\n\
         sys.path[:0] = [{folder:?}, {package:?}]\n\
         loader = machinery.ExtensionFileLoader('sinew._sinew', {module:?})\n\
         spec = importlib.util.spec_from_file_location('sinew._sinew', {module:?}, loader=loader)\n\
         module = importlib.util.module_from_spec(spec)\n\
         sys.modules['sinew._sinew'] = module\n\
         loader.exec_module(module)\n\
         import front\n\
         front.load_interfaces({folder:?})\n\
         front.fill({addresses}, [{names}])\n"
    );
    CString::new(text).expect("a program")
}

/// Starts the interpreter, which goes on until the end of the process, and runs a program.
fn start(library: &Path, home: &str, program: &CString) {
    let library = Library::open_for_all(library);
    let set_home: unsafe extern "C" fn(*const i32) = library.function("Py_SetPythonHome");
    let initialize: unsafe extern "C" fn(c_int) = library.function("Py_InitializeEx");
    let run: unsafe extern "C" fn(*const c_char, *mut c_void) -> c_int =
        library.function("PyRun_SimpleStringFlags");
    let release: unsafe extern "C" fn() -> *mut c_void = library.function("PyEval_SaveThread");
    let home: Vec<i32> = home.chars().map(|letter| (letter as u32).cast_signed()).chain([0]).collect();
    // SAFETY: before the interpreter starts; a text of wide characters that stays for ever.
    unsafe { set_home(home.leak().as_ptr()) };
    // SAFETY: once, and without handlers of signals.
    unsafe { initialize(0) };
    // SAFETY: a text; the thread that started the interpreter holds its lock.
    let outcome = unsafe { run(program.as_ptr(), ptr::null_mut()) };
    // SAFETY: the thread holds the lock, which the functions of the front end take from now on.
    unsafe { release() };
    if outcome != 0 {
        eprintln!("the front end of Python can't be made: its own words stand above");
        std::process::exit(1); // a panic would have the next test start it again, which can't be done
    }
}
