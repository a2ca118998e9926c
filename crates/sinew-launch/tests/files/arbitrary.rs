//! Deliberately broken files: each is planned, or refused with a place, and nothing panics.

use proptest::prelude::*;
use sinew_launch::{LoadError, load};

use super::Place;

const TOML: &str = "[arguments]\nrobot = { default = 'r1', choices = ['r1'] }\n[process.a]\nprogram = 'talker'\nargs = ['$(var robot)', \
    \"$(eval '1 == 1')\"]\nparameters = { a = [1, 2], b = { c = 1.5 } }\nafter = ['b']\nready = { delay = 1 }\n[group.g]\nnamespace = 'x'\n\
    [process.b]\nprogram = 'talker'\nrestart = { delay = 0.5, max = 3 }\n";

const XML: &str = "<launch><arg name='x' default='1'/><group if='$(var x)'><node pkg='robot' exec='driver' args='$(env HOST)'>\
    <param name='a' value='[1, 2]'/><remap from='a' to='b'/></node></group></launch>";

const YAML: &str = "launch:\n- arg: {name: x, default: '1'}\n- node:\n    pkg: robot\n    exec: driver\n    if: $(var x)\n    param:\n    - name: a\n      value: [1, 2]\n";

proptest! {
    #[test]
    fn broken_files_are_refused_with_a_place(
        which in 0..3usize,
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4usize, "[\\PC\n$()'\"\\[\\]{}<>=:/-]{0,4}"), 1..6),
    ) {
        let place = Place::new();
        let (name, text) = [("a.toml", TOML), ("a.xml", XML), ("a.yaml", YAML)][which];
        let mut text: Vec<char> = text.chars().collect();
        for (at, gone, put) in edits {
            let at = at.index(text.len() + 1);
            let end = (at + gone).min(text.len());
            text.splice(at..end, put.chars());
        }
        let text: String = text.into_iter().collect();
        place.write(name, &text);
        match load(&place.path().join(name), &place.options(&[])) {
            Ok(_) => {}
            Err(LoadError::At { place: at, .. }) => {
                let lines = text.matches('\n').count() + 1;
                prop_assert!((1..=lines + 1).contains(&at.line()), "{} of {lines} lines", at);
                prop_assert!(at.column() >= 1);
            }
            Err(error) => prop_assert!(false, "without a place: {error}"),
        }
    }
}
