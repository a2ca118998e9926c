//! Every error is a sentence with its line and column.

use super::Place;

#[track_caller]
fn check(cases: &[(&str, &str, &str)]) {
    let place = Place::new();
    place.write("bin/plain", "no program");
    for (name, text, wanted) in cases {
        let error = place.refused(name, text, &[]);
        assert!(error.starts_with(wanted), "{text}\n  {error}\n  {wanted}");
    }
}

#[test]
fn of_toml() {
    let cases = [
        ("[process", "a.toml:1:9: this is no TOML: "),
        ("x = 1", "a.toml:1:1: a launch file has no `x`; it may have arguments, process, "),
        ("[proces.a]", "a.toml:1:2: a launch file has no `proces`; did you mean `process`?"),
        ("[process.a]\nargs = 'x'", "a.toml:1:10: a process needs `program`: what is to be run"),
        (
            "[process.a]\nprogram = 'tolker'",
            "a.toml:2:11: there is no program `tolker`; did you mean `talker`? (looked in bin)",
        ),
        ("[process.a]\nprogram = 'bin/plain'", "a.toml:2:11: bin/plain can't be executed: its mode"),
        ("[process.a]\nprogram = 'bin'", "a.toml:2:11: there is no program `bin`"),
        ("[process.a]\nprogram = './bin'", "a.toml:2:11: bin can't be executed: it is a directory"),
        (
            "[process.a]\nprogram = 'x'\npackage = 'robt'",
            "a.toml:2:11: there is no program `x` (looked for lib/robt/x in ros, and on PATH)",
        ),
        ("[process.a]\nprogram = 5", "a.toml:2:11: there is no program `5`"),
        ("[process.a]\nprogram = []", "a.toml:2:11: `program` is an array; it has to be a string"),
        (
            "[arguments]\nrate = 5\nnamespace = 'left'\n[process.a]\nprogram = 'talker'",
            "a.toml:3:1: `namespace` would be an argument of the launch that nothing uses, as all that stands below",
        ),
        (
            "[arguments]\nprocess.a.program = 'talker'",
            "a.toml:2:1: `process` would be an argument of the launch that nothing uses",
        ),
        ("[process.'a/b']\nprogram = 'talker'", "a.toml:1:10: `process` is \"a/b\"; names have letters"),
        ("[include.a]\nfile = 'none.toml'", "a.toml:2:8: can't read none.toml: No such file"),
        ("[include.a]\nfile = 'a.toml'", "a.toml:1:10: a loop: a.toml includes a.toml"),
        (
            "[process.'a.b']\nprogram = 'talker'\noutput = 'log'\n[group.a.process.b]\nprogram = 'talker'\noutput = 'both'",
            "a.toml:4:18: `a/b` and `a.b` would write the same log file, a.b.log, in whose name each `/` becomes a `.`; \
             rename one of them",
        ),
        ("[arguments]\nx = {}", "a.toml:2:1: the argument `x` has no default: give it as `x:=VALUE`"),
        (
            "[arguments]\nx = { default = 'c', choices = ['aa', 'bb'] }",
            "a.toml:2:1: `x` is `c`; it has to be one of aa, bb",
        ),
    ];
    check(&cases.map(|(text, wanted)| ("a.toml", text, wanted)));
}

#[test]
fn of_words_and_variables_that_no_system_takes() {
    let p = |rest: &str| format!("[process.a]\nprogram = 'talker'\n{rest}\n");
    let cases = [
        ("args = ['a', \"b\\u0000\"]", "a.toml:3:14: a text has a character 0"),
        ("env = { A = \"\\u0000\" }", "a.toml:3:13: a text has a character 0"),
        (
            "env = { 'A=B' = 'c' }",
            "a.toml:3:9: `env` is `A=B`; the name of a variable has at least one character",
        ),
        ("env = { '' = 'c' }", "a.toml:3:9: `env` is ``; the name of a variable has at least one character"),
    ];
    let cases = cases.map(|(rest, wanted)| (p(rest), wanted));
    check(&cases.each_ref().map(|(text, wanted)| ("a.toml", text.as_str(), *wanted)));
}

#[test]
fn of_a_process_in_toml() {
    let p = |rest: &str| format!("[process.a]\nprogram = 'talker'\n{rest}\n");
    let cases = [
        ("args = '$(var x)'", "a.toml:3:8: there is no argument or variable `x` here"),
        (
            "args = '$(vra x)'",
            "a.toml:3:8: in `$(vra ..)`: there is no such substitution; did you mean `var`?",
        ),
        ("args = '$(var x'", "a.toml:3:8: in `$(var x`: `$(` is never closed"),
        ("args = '$(env NONE)'", "a.toml:3:8: the environment variable NONE isn't set"),
        ("args = '$(env)'", "a.toml:3:8: in `$(env ..)`: it has 0 arguments, and is written $(env NAME)"),
        ("args = '$(command ls)'", "a.toml:3:8: `$(command ..)` isn't understood: a file that is only read"),
        ("args = '$(eval 1 + 1)'", "a.toml:3:8: in `$(eval ..)`: `+` isn't understood"),
        (
            "args = '$(find-pkg-share rbot)'",
            "a.toml:3:8: there is no package `rbot` on AMENT_PREFIX_PATH; did you mean `robot`?",
        ),
        ("args = \"a 'b\"", "a.toml:3:8: `args` is `a 'b`; a quote in it is never closed"),
        ("if = 'maybe'", "a.toml:3:6: `if` is `maybe`; it has to be true or false"),
        ("node = 'bad name'", "a.toml:3:8: `node` is `bad name`; "),
        ("namespace = 'a b'", "a.toml:3:13: `namespace` is `/a b`; "),
        (
            "remap = { 'x y' = 'z' }",
            "a.toml:3:11: `remap` is `x y:=z`; remap rule `x y:=z` contains an invalid name",
        ),
        (
            "ros_args = false\nnode = 'x'",
            "a.toml:4:1: `node` is given; it would be told by arguments behind `--ros-args`",
        ),
        ("ros_args = false\nparameters = { x = 1 }", "a.toml:4:1: `parameters` is given; "),
        (
            "output = 'scren'",
            "a.toml:3:10: `output` is `scren`; it has to be screen, log, both; did you mean `screen`?",
        ),
        (
            "restart = 'allways'",
            "a.toml:3:11: `restart` is `allways`; it has to be never, on-failure, always; did you mean `always`?",
        ),
        ("restart = { dely = 1 }", "a.toml:3:13: `restart` has no `dely`; did you mean `delay`?"),
        (
            "restart = { delay = 2, max_delay = 1 }",
            "a.toml:3:36: `max_delay` is 1; it can't be less than `delay`, which is 2",
        ),
        ("grace = -1", "a.toml:3:9: `grace` is `-1`; it has to be a number of seconds"),
        (
            "ready = { delay = 1, exit = 0, timeout = 5 }",
            "a.toml:3:29: `exit` is given together with `delay`; the process has ended then and offers nothing: give one of them",
        ),
        ("ready = { exit = 256 }", "a.toml:3:18: `exit` is `256`; it has to be a whole number from 0 to 255"),
        ("components = { a = { typ = 'b' } }", "a.toml:3:22: a component has no `typ`; did you mean `type`?"),
        ("components = { a = { remap = {} } }", "a.toml:3:16: a component needs `type`"),
        ("components = { 'a/' = 'b' }", "a.toml:3:16: `components` is `a/`; it has to be a name"),
        (
            "components = { a = 'b c' }",
            "a.toml:3:20: `components` is `b c`; it has to be the type of a component",
        ),
        ("dir = 'none'", "a.toml:3:7: `dir` is none; it has to be a directory"),
        (
            "parameters = { a = [1, 'b'] }",
            "a.toml:3:20: `a` is such a list; all values of a list have one type, and these are an integer, a string",
        ),
        ("parameters = { a = [[1]] }", "a.toml:3:20: `a` is an array; its elements have to be"),
        ("parameters = { a = 2020-01-01 }", "a.toml:3:20: `a` is a date; parameters are booleans"),
        ("parameter_files = ['none.yaml']", "a.toml:3:20: can't read none.yaml"),
        ("after = ['b']", "a.toml:3:10: there is no process `b` to wait for"),
        (
            "after = ['a']",
            "a.toml:3:10: these processes wait for each other, so none would start: a waits for a",
        ),
        (
            "after = ['b']\n[process.b]\nprogram = 'talker'\nafter = ['a']",
            "a.toml:1:10: these processes wait for each other, so none would start: a waits for b waits for a",
        ),
    ];
    check(
        &cases
            .map(|(rest, wanted)| ("a.toml", p(rest), wanted))
            .each_ref()
            .map(|(name, text, wanted)| (*name, text.as_str(), *wanted)),
    );
}

#[test]
fn of_xml() {
    let l = |rest: &str| format!("<launch>\n  {rest}\n</launch>");
    let cases = [
        ("<node pkg='robot' exec='driver'>", "a.xml:3:1: this is no XML: expected 'node' tag, not 'launch'"),
        ("<nod pkg='robot'/>", "a.xml:2:3: `nod` isn't understood: there may be node, executable, "),
        ("<timer period='1'/>", "a.xml:2:3: `timer` isn't understood: start a process later by"),
        ("<node exec='driver'/>", "a.xml:2:3: `node` needs `pkg`"),
        ("<node pkg='robot' exe='driver'/>", "a.xml:2:21: `node` has no `exe`; did you mean `exec`?"),
        (
            "<node pkg='robot' exec='drver'/>",
            "a.xml:2:21: there is no program `drver`; did you mean `driver`?",
        ),
        (
            "<node pkg='robot' exec='driver'><parm/></node>",
            "a.xml:2:35: `node` has no `parm`; did you mean `param`?",
        ),
        (
            "<node pkg='robot' exec='driver'><param name='x'/></node>",
            "a.xml:2:35: `param` needs `value`: what the parameter is",
        ),
        (
            "<node pkg='robot' exec='driver'><param name='x' value='a' type='int'/></node>",
            "a.xml:2:51: `value` is a string; it has to be of the type",
        ),
        (
            "<node pkg='robot' exec='driver'><remap from='a' to='b' if='0'/></node>",
            "a.xml:2:58: `if` of `remap` in `node` isn't understood: give the condition to the element that contains it",
        ),
        ("<composable_node/>", "a.xml:2:3: `composable_node` isn't understood: components are written as"),
        (
            "<node_container pkg='rclcpp_components' exec='component_node'/>",
            "a.xml:2:19: `pkg` is rclcpp_components; its programs are component_container,",
        ),
        (
            "<node_container pkg='robot' exec='driver'><composable_node pkg='a' plugin='b'/></node_container>",
            "a.xml:2:45: `composable_node` needs `name`: what its node is called",
        ),
        (
            "<node_container pkg='robot' exec='driver' name='box'/><load_composable_node target='bix'/>",
            "a.xml:2:79: there is no container whose node is called `/bix`; did you mean `/box`? (`sinew component load`",
        ),
        (
            "<load_composable_node/>",
            "a.xml:2:3: `load_composable_node` needs `target`: the name of the container's node",
        ),
        ("<group if='1' unless='0'/>", "a.xml:2:10: `if` is there beside `unless`"),
        ("text", "a.xml:1:9: the text `text` isn't understood"),
        ("<arg name='x'/><let name='y' value='$(var x)'/>", "a.xml:2:3: the argument `x` has no default"),
        ("<include file='a.xml'/>", "a.xml:2:3: a loop: a.xml includes a.xml"),
    ];
    check(
        &cases
            .map(|(rest, wanted)| (l(rest), wanted))
            .each_ref()
            .map(|(text, wanted)| ("a.xml", text.as_str(), *wanted)),
    );
    check(&[(
        "a.xml",
        "<launhc/>",
        "a.xml:1:1: `launhc` here isn't understood: the outermost element is `launch`",
    )]);
    check(&[
        ("a.py", "", "a.py:1:1: a launch file in Python isn't understood"),
        ("a.txt", "", "a.txt:1:1: a launch file that ends so"),
    ]);
}

#[test]
fn of_yaml() {
    check(&[
        ("a.yaml", "", "a.yaml:1:1: an empty file isn't understood"),
        ("a.yaml", "launch: [", "a.yaml:"),
        ("a.yaml", "lunch:\n- node: {}", "a.yaml:1:1: `lunch` here isn't understood"),
        (
            "a.yaml",
            "launch:\n- node: {pkg: robot, exec: driver}\n  x: 1",
            "a.yaml:3:3: a second key isn't understood",
        ),
        (
            "a.yaml",
            "launch:\n- node:\n    pkg: robot\n    exe: x",
            "a.yaml:4:5: `node` has no `exe`; did you mean `exec`?",
        ),
        ("a.yaml", "launch:\n- node: x", "a.yaml:2:3: `node` with one value isn't understood"),
        (
            "a.yaml",
            "launch:\n- node: {pkg: a, pkg: b}",
            "a.yaml:2:18: there are two keys called `pkg`; the other is at a.yaml:2:10",
        ),
        ("a.yaml", "launch:\n- x", "a.yaml:2:3: this element isn't understood"),
        ("a.yaml", "a: &x 1\nlaunch: *x", "a.yaml:2:9: an alias isn't understood"),
    ]);
}

#[test]
fn unknown_arguments_and_files_that_are_not_there() {
    let place = Place::new();
    let text = "[arguments]\nspeed = 1\n";
    let error = place.refused("a.toml", text, &[("sped", "2")]);
    assert_eq!(
        error,
        "no launch file has an argument `sped`; did you mean `speed`?; `--show-args` lists them"
    );
    let error =
        sinew_launch::load("no/such/file.toml".as_ref(), &place.options(&[])).unwrap_err().to_string();
    assert!(error.starts_with("can't read the launch file no/such/file.toml: No such file"), "{error}");
    place.write("b.toml", "[arguments]\nside = 'l'\n");
    let text = "[include.b]\nfile = 'b.toml'\narguments = { sid = 'r' }\n";
    let error = place.refused("a.toml", text, &[]);
    assert_eq!(error, "a.toml:3:15: b.toml has no `sid`; did you mean `side`?; it may have side");
}
