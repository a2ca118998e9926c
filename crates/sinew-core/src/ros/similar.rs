//! Suggestions for misspelt names.
//!
//! Names come from other processes, so neither their length nor their number is trusted: a
//! comparison covers a band of five letters around the diagonal, long names aren't compared, and of
//! many names only the first are.

/// Longer names (in bytes) are never compared.
const LONGEST: usize = 255;

/// Most names that are compared.
const MOST_COMPARED: usize = 4096;

/// Most names that are suggested.
const MOST: usize = 3;

/// Most mistyped letters of a name.
const NEAR: usize = 2;

/// Returns the names most like `wanted`, best first, at most three; none if none is like it.
///
/// Names are alike if they differ in a letter or two, have the same last part (`/image` and
/// `/camera/image`), or if one contains the other. Names above 255 bytes are left out, and so is
/// everything after the first 4096 names: the time is bounded for any names.
///
/// ```
/// let topics = ["/wheel_states", "/camera/image", "/odom"];
/// assert_eq!(sinew::names::similar("/wheel_sates", topics), ["/wheel_states"]);
/// assert_eq!(sinew::names::similar("/image", topics), ["/camera/image"]);
/// assert!(sinew::names::similar("/scan", topics).is_empty());
/// ```
#[must_use]
pub fn similar<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut best: Vec<(usize, &str)> = Vec::with_capacity(MOST + 1);
    if wanted.len() > LONGEST {
        return Vec::new();
    }
    let mut comparison = Comparison::new(wanted);
    for name in names.into_iter().filter(|name| name.len() <= LONGEST).take(MOST_COMPARED) {
        let Some(distance) = comparison.distance(name) else { continue };
        let place = best.partition_point(|known| *known < (distance, name));
        if place < MOST && best.get(place) != Some(&(distance, name)) {
            best.insert(place, (distance, name));
            best.truncate(MOST);
        }
    }
    best.into_iter().map(|(_, name)| name).collect()
}

/// Returns the number of mistyped letters, two at most, if two different names are so similar that
/// one may be the other, mistyped; 0 if they differ only in their namespaces, or in capitals.
/// `None` for names that differ in digits alone, and for names above 255 bytes. The time is bounded
/// by that length.
///
/// ```
/// use sinew::names::alike;
/// assert_eq!(alike("/wheel_sates", "/wheel_states"), Some(1));
/// assert_eq!(alike("/scan", "/robot/scan"), Some(0));
/// assert_eq!(alike("/wheel_1", "/wheel_2"), None);
/// ```
#[must_use]
pub fn alike(one: &str, other: &str) -> Option<usize> {
    let (end, other_end) = (last(one), last(other));
    if one == other || one.len().max(other.len()) > LONGEST {
        return None;
    }
    if !end.is_empty() && end.eq_ignore_ascii_case(other_end) {
        return Some(0);
    }
    if without_digits(one).eq(without_digits(other)) {
        return None;
    }
    let near = most_mistyped(end);
    if one.len().abs_diff(other.len()) > 4 * near {
        return None; // no letter has more bytes
    }
    let letters = |name: &str| name.chars().collect::<Vec<_>>();
    mistyped(&letters(one), &letters(other), near)
}

fn without_digits(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|letter| !letter.is_ascii_digit())
}

/// By the last part of a name alone: `std_msgs/msg/` in front makes no two names alike. One letter
/// in three, as in clap's suggestions: no wild guesses.
fn most_mistyped(last: &str) -> usize {
    ((last.chars().count() + 1) / 3).min(NEAR)
}

/// One name, and room to compare other names with it.
struct Comparison<'a> {
    wanted: &'a str,
    letters: Vec<char>,
    /// The most letters that may differ.
    near: usize,
    others: Vec<char>,
}

impl<'a> Comparison<'a> {
    fn new(wanted: &'a str) -> Self {
        let near = most_mistyped(last(wanted));
        Self { wanted, letters: wanted.chars().collect(), near, others: Vec::new() }
    }

    /// Returns the distance of the name from the wanted one; `None` if they aren't alike.
    fn distance(&mut self, name: &str) -> Option<usize> {
        let (own, its) = (last(self.wanted), last(name));
        // The right name in another namespace is nearer than any misspelling.
        if !own.is_empty() && own.eq_ignore_ascii_case(its) {
            return Some(0);
        }
        self.others.clear();
        self.others.extend(name.chars());
        if let Some(letters) = mistyped(&self.letters, &self.others, self.near) {
            return Some(letters);
        }
        let wanted = self.wanted;
        let is_part = match wanted.len() {
            0 | 1 => false,
            2 => name.starts_with(wanted),
            // `and` does not suggest `command`.
            _ => name.contains(wanted) || name.len() * 2 >= wanted.len() && wanted.contains(name),
        };
        is_part.then(|| self.letters.len().abs_diff(self.others.len()))
    }
}

fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or_default()
}

/// Returns the number of letters that were left out, added, changed or swapped with the next one,
/// if it is at most `most`. Levenshtein's distance with swaps (optimal string alignment); only the
/// cells at most `most` off the diagonal are filled in, as others can't be that small.
fn mistyped(one: &[char], other: &[char], most: usize) -> Option<usize> {
    if one.len().abs_diff(other.len()) > most {
        return None;
    }
    let unreachable = most + 1;
    // The row before the last one, the last one, and the one that is filled in.
    let mut rows = [const { [usize::MAX; LONGEST + 1] }; 3];
    for (column, cell) in rows[1].iter_mut().enumerate().take(other.len() + 1) {
        *cell = column.min(unreachable);
    }
    for row in 1..=one.len() {
        let [before, above, current] = &mut rows;
        let (first, end) = (row.saturating_sub(most).max(1), (row + most).min(other.len()));
        current[..=other.len()].fill(unreachable);
        current[0] = row.min(unreachable);
        for column in first..=end {
            let (letter, its) = (one[row - 1], other[column - 1]);
            let mut cell = above[column - 1] + usize::from(letter != its);
            cell = cell.min(above[column] + 1).min(current[column - 1] + 1);
            if row > 1 && column > 1 && letter == other[column - 2] && one[row - 2] == its {
                cell = cell.min(before[column - 2] + 1);
            }
            current[column] = cell.min(unreachable);
        }
        rows.rotate_left(1);
    }
    Some(rows[1][other.len()]).filter(|letters| *letters <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_moved_and_cut_names_are_found() {
        let names = ["/chatter", "/robot/camera/image", "/clock", "/odom"];
        let like = |name| similar(name, names);
        assert_eq!(like("/chater"), ["/chatter"]);
        assert_eq!(like("/chatetr"), ["/chatter"]);
        assert_eq!(like("/chattrer"), ["/chatter"]);
        assert_eq!(like("/image"), ["/robot/camera/image"]);
        assert_eq!(like("/robot/camera"), ["/robot/camera/image"]);
        assert_eq!(like("/Odom"), ["/odom"]);
        assert!(like("/something/else").is_empty());
        assert!(like("").is_empty());
        assert!(like("/").is_empty());
    }

    #[test]
    fn types_are_like_each_other_by_more_than_their_packages() {
        let names =
            ["std_msgs/msg/Int8", "std_msgs/msg/Bool", "sensor_msgs/msg/Joy", "geometry_msgs/msg/Point"];
        let like = |name| similar(name, names);
        for unrelated in
            ["robot_msgs/msg/Joint", "std_msgs/msg/Foo", "robot_msgs/msg/Arm", "my_msgs/msg/Tool"]
        {
            assert!(like(unrelated).is_empty(), "{unrelated}");
        }
        assert_eq!(like("std_msg/msg/Boool"), ["std_msgs/msg/Bool"]);
        assert_eq!(like("geometry_msgs/msg/Piont"), ["geometry_msgs/msg/Point"]);
        assert_eq!(like("robot_msgs/msg/Point"), ["geometry_msgs/msg/Point"]);
        assert!(similar("foo_msgs", ["std_msgs", "nav_msgs"]).is_empty());
        assert_eq!(similar("std_msg", ["std_msgs", "nav_msgs"]), ["std_msgs"]);
        assert!(similar("env", ["program", "parameters", "robot/camera"]).is_empty());
        assert!(similar("command", ["and", "or", "any"]).is_empty());
    }

    #[test]
    fn mistyped_and_moved_names_resemble_each_other() {
        for (one, other, expected) in [
            ("/wheel_sates", "/wheel_states", Some(1)),
            ("/wheel_sattes", "/wheel_states", Some(1)),
            ("/imgae", "/image", Some(1)),
            ("/odm", "/odom", Some(1)),
            ("/odm", "/odomo", None),
            ("/scan", "/robot/scan", Some(0)),
            ("/Scan", "/scan", Some(0)),
            ("/cmd_vell", "/cmdvel", Some(2)),
            ("/arm_1/joint", "/arm_2/joints", Some(2)),
            ("/wheel_1", "/wheel_2", None),
            ("/wheel_9", "/wheel_10", None),
            ("/left_wheel", "/right_wheel", None),
            ("/a", "/b", None),
            ("/", "/a", None),
            ("", "", None),
            ("/scan", "/scan", None),
            ("/größe", "/grösse", Some(2)),
        ] {
            assert_eq!(alike(one, other), expected, "{one} {other}");
            if expected.is_some() {
                assert!(alike(other, one).is_some(), "{other} {one}");
            }
        }
        let long = "/".to_owned() + &"x".repeat(LONGEST);
        assert_eq!(alike(&long, &long[1..]), None);
        assert_eq!(alike(&long[1..], &long[2..]), Some(1));
    }

    #[test]
    fn no_more_than_three_and_none_twice() {
        let names: Vec<String> = (0..9).rev().map(|i| format!("/t{}", i / 2)).collect();
        assert_eq!(similar("/t", names.iter().map(String::as_str)), ["/t0", "/t1", "/t2"]);
    }

    #[test]
    fn the_distance_is_that_of_the_whole_table() {
        // All words of three letters or fewer from an alphabet of two, with an oracle that tries
        // all edits.
        let words: Vec<Vec<char>> = (0..4_u32)
            .flat_map(|length| (0..2_u32.pow(length)).map(move |bits| (length, bits)))
            .map(|(length, bits)| (0..length).map(|at| if bits >> at & 1 == 0 { 'a' } else { 'b' }).collect())
            .collect();
        for one in &words {
            for other in &words {
                let whole = whole_table(one, other);
                for most in 0..=NEAR {
                    let wanted = Some(whole).filter(|letters| *letters <= most);
                    assert_eq!(mistyped(one, other, most), wanted, "{one:?} {other:?} {most}");
                }
            }
        }
    }

    /// By the definition: the best of all choices for the last letters.
    fn whole_table(one: &[char], other: &[char]) -> usize {
        let (Some((a, one_rest)), Some((b, other_rest))) = (one.split_last(), other.split_last()) else {
            return one.len().max(other.len());
        };
        let changed = whole_table(one_rest, other_rest) + usize::from(a != b);
        let best = changed.min(whole_table(one_rest, other) + 1).min(whole_table(one, other_rest) + 1);
        match (one_rest.split_last(), other_rest.split_last()) {
            (Some((c, one)), Some((d, other))) if a == d && b == c => best.min(whole_table(one, other) + 1),
            _ => best,
        }
    }

    #[test]
    fn long_names_and_many_are_not_compared() {
        let long = "x".repeat(10_000_000);
        assert!(similar(&long, ["x"]).is_empty());
        assert!(similar("xxx", [long.as_str()]).is_empty());
        assert_eq!(similar(&long[..255], [&long[..254], &long[..256]]), [&long[..254]]);
        let mut asked = 0;
        let endless = std::iter::repeat_with(|| {
            asked += 1;
            "/scan"
        });
        assert_eq!(similar("/scans", endless), ["/scan"]);
        assert_eq!(asked, MOST_COMPARED);
    }
}
