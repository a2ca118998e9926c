//! Describes in words how two descriptions differ.

use super::{FieldDescription, FieldTypeDescription, IndividualTypeDescription, TypeDescription, type_id};
use std::collections::{HashMap, HashSet};
use std::fmt::Display;

/// Number of differences that are described; the rest are only counted.
const TOLD: usize = 3;

/// Maximum number of differences counted.
const COUNTED: usize = 100;

/// Maximum number of characters shown of a name, which may come from any program.
const SHOWN: usize = 100;

impl TypeDescription {
    /// Describes the differences between the fields of two types in words: fields with another
    /// type, missing fields, and fields in another order. Fields of nested types are named by their
    /// path. Returns `None` if the types have no difference that is part of the hash. The names of
    /// the two types may differ as well; this function does not report that.
    ///
    /// `ends` says where each of the two types is found, as a phrase for the end of a sentence.
    /// Names from other programs are shortened and cannot control a terminal. Takes time in
    /// proportion to both types; allocates.
    ///
    /// ```
    /// use sinew_msg::Message;
    ///
    /// #[derive(Message)]
    /// #[message(name = "example_msgs/msg/Wheel")]
    /// struct Wheel {
    ///     angle: f64,
    ///     velocity: f64,
    /// }
    ///
    /// mod other {
    ///     #[derive(sinew_msg::Message)]
    ///     #[message(name = "example_msgs/msg/Wheel")]
    ///     pub struct Wheel {
    ///         angle: f64,
    ///         velocity: f32,
    ///         slip: bool,
    ///     }
    /// }
    ///
    /// let description = Wheel::ENCODING.unwrap().description.unwrap().describe().unwrap();
    /// let other = other::Wheel::ENCODING.unwrap().description.unwrap().describe().unwrap();
    /// assert_eq!(
    ///     description.difference(&other, ["there", "here"]).unwrap(),
    ///     "`velocity` is float64 there, float32 here; `slip` is missing there"
    /// );
    /// assert_eq!(description.difference(&description, ["there", "here"]), None);
    /// ```
    #[must_use]
    pub fn difference(&self, other: &Self, ends: [&str; 2]) -> Option<String> {
        let mut comparison =
            Comparison { types: [types_of(self), types_of(other)], ends, told: Vec::new(), count: 0 };
        comparison.compare(&self.type_description, &other.type_description);
        let Comparison { mut told, count, .. } = comparison;
        if count > told.len() {
            let more = if count >= COUNTED { "many".to_owned() } else { (count - told.len()).to_string() };
            told.push(format!("{more} more"));
        }
        (!told.is_empty()).then(|| told.join("; "))
    }
}

type Types<'a> = HashMap<&'a str, &'a IndividualTypeDescription>;

fn types_of(description: &TypeDescription) -> Types<'_> {
    let referenced = &description.referenced_type_descriptions;
    referenced.iter().map(|individual| (&*individual.type_name, individual)).collect()
}

struct Comparison<'a> {
    /// The nested types, by name.
    types: [Types<'a>; 2],
    ends: [&'a str; 2],
    told: Vec<String>,
    count: usize,
}

impl<'a> Comparison<'a> {
    /// Compares two types and their nested types, each once, under the first path found.
    fn compare(&mut self, one: &'a IndividualTypeDescription, other: &'a IndividualTypeDescription) {
        let mut seen = HashSet::new();
        let mut ahead = vec![(String::new(), one, other)];
        while let Some((path, one, other)) = ahead.pop() {
            if self.count >= COUNTED {
                return;
            }
            let mut inside = self.compare_fields(&path, [&one.fields, &other.fields]);
            inside.retain(|(_, name)| seen.insert(*name));
            let types = inside.into_iter().filter_map(|(path, name)| {
                let [one, other] = &self.types;
                Some((path, *one.get(name)?, *other.get(name)?))
            });
            let mut types: Vec<_> = types.collect();
            types.reverse(); // the first is popped first
            ahead.append(&mut types);
        }
    }

    /// Compares the fields of two types. Returns the nested types with the same name in both, and
    /// their paths.
    fn compare_fields(&mut self, path: &str, fields: [&'a [FieldDescription]; 2]) -> Vec<(String, &'a str)> {
        let by_name = |fields: &'a [FieldDescription]| -> HashMap<&'a str, &'a FieldTypeDescription> {
            fields.iter().map(|field| (&*field.name, &field.field_type)).collect()
        };
        let [one, other] = fields.map(by_name);
        let [here, there] = self.ends;
        let before = self.count;
        let mut inside = Vec::new();
        for field in fields[0] {
            let place = || format!("`{}{}`", cut(path), cut(&field.name));
            match other.get(&*field.name) {
                None => self.tell(|| format!("{} is missing {there}", place())),
                Some(&of_other) if *of_other != field.field_type => {
                    let [of_one, of_other] = [&field.field_type, of_other].map(cut);
                    self.tell(|| format!("{} is {of_one} {here}, {of_other} {there}", place()));
                }
                Some(of_other) if is_nested(of_other) => {
                    inside.push((begun(path, &field.name), &*of_other.nested_type_name));
                }
                Some(_) => {}
            }
        }
        for field in fields[1].iter().filter(|field| !one.contains_key(&*field.name)) {
            self.tell(|| format!("`{}{}` is missing {here}", cut(path), cut(&field.name)));
        }
        let [first, second] = fields;
        let moved = first.iter().zip(second).find(|(one, other)| one.name != other.name);
        if let Some((one, other)) = moved.filter(|_| self.count == before) {
            let [one, other] = [one, other].map(|field| format!("`{}{}`", cut(path), cut(&field.name)));
            self.tell(|| format!("{one} comes before {other} {here}, after it {there}"));
        }
        inside
    }

    fn tell(&mut self, difference: impl FnOnce() -> String) {
        self.count += 1;
        if self.told.len() < TOLD {
            self.told.push(difference());
        }
    }
}

/// Returns the beginning of the path of a nested type: as much as [`cut`] needs. (A path may be as
/// long as all names together, and each type has one.)
fn begun(path: &str, field: &str) -> String {
    path.chars().chain(field.chars()).chain(['.']).take(SHOWN + 1).collect()
}

fn is_nested(field_type: &FieldTypeDescription) -> bool {
    let shapes = [0, type_id::ARRAY, type_id::BOUNDED_SEQUENCE, type_id::SEQUENCE];
    shapes.iter().any(|shape| field_type.type_id == type_id::NESTED + shape)
}

/// Returns text from another program, made safe to display.
fn cut(text: impl Display) -> String {
    let text = text.to_string();
    let is_plain = |letter: char| letter.is_ascii_graphic();
    let mut shown: String =
        text.chars().take(SHOWN).map(|letter| if is_plain(letter) { letter } else { '\u{fffd}' }).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push_str("..");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basic(name: &str, type_id: u8) -> FieldDescription {
        let field_type = FieldTypeDescription { type_id, ..FieldTypeDescription::default() };
        FieldDescription { name: name.to_owned(), field_type, ..FieldDescription::default() }
    }

    fn nested(name: &str, type_name: &str, shape: u8) -> FieldDescription {
        let mut field = basic(name, type_id::NESTED + shape);
        type_name.clone_into(&mut field.field_type.nested_type_name);
        field
    }

    fn individual(name: &str, fields: &[FieldDescription]) -> IndividualTypeDescription {
        IndividualTypeDescription { type_name: name.to_owned(), fields: fields.to_vec() }
    }

    fn described(fields: &[FieldDescription], inside: &[IndividualTypeDescription]) -> TypeDescription {
        TypeDescription {
            type_description: individual("a/msg/A", fields),
            referenced_type_descriptions: inside.to_vec(),
        }
    }

    fn told(one: &TypeDescription, other: &TypeDescription) -> String {
        one.difference(other, ["there", "here"]).expect("they differ")
    }

    #[test]
    fn fields_inside_are_told_by_their_path() {
        let [point, pose, path] = ["g/msg/Point", "g/msg/Pose", "g/msg/Path"];
        let with = |x: u8| {
            let inside = [
                individual(path, &[nested("poses", pose, type_id::SEQUENCE)]),
                individual(point, &[basic("x", x), basic("y", type_id::DOUBLE)]),
                individual(pose, &[nested("position", point, 0)]),
            ];
            described(&[nested("plan", path, 0), nested("goal", pose, type_id::ARRAY)], &inside)
        };
        let text = told(&with(type_id::DOUBLE), &with(type_id::FLOAT));
        assert_eq!(text, "`goal.position.x` is float64 there, float32 here");
    }

    #[test]
    fn types_sizes_and_order_are_told() {
        let mut three = basic("covariance", type_id::DOUBLE + type_id::ARRAY);
        three.field_type.capacity = 3;
        let mut four = three.clone();
        four.field_type.capacity = 4;
        let [one, other] = [three, four].map(|field| described(&[field], &[]));
        assert_eq!(told(&one, &other), "`covariance` is float64[3] there, float64[4] here");

        let [a, b] = ["a", "b"].map(|name| basic(name, type_id::INT8));
        let [one, other] = [[a.clone(), b.clone()], [b, a]].map(|fields| described(&fields, &[]));
        assert_eq!(told(&one, &other), "`a` comes before `b` there, after it here");

        let [one, other] = ["g/msg/Point", "g/msg/Pose"].map(|name| described(&[nested("at", name, 0)], &[]));
        assert_eq!(told(&one, &other), "`at` is g/Point there, g/Pose here");
    }

    #[test]
    fn a_few_are_told_and_the_rest_counted() {
        let fields: Vec<_> = (0..200).map(|number| basic(&format!("f{number}"), type_id::INT8)).collect();
        let all = described(&fields, &[]);
        let text = told(&all, &described(&fields[..195], &[]));
        assert_eq!(text, "`f195` is missing here; `f196` is missing here; `f197` is missing here; 2 more");
        assert!(told(&described(&[], &[]), &all).ends_with("; many more"));
    }

    /// Types that contain themselves, that lack nested types, or that have invalid names.
    #[test]
    fn what_others_describe_is_not_trusted() {
        let cycle = |id: u8| {
            let inside = [individual("a/msg/A", &[nested("again", "a/msg/A", 0), basic("x", id)])];
            described(&[nested("again", "a/msg/A", 0)], &inside)
        };
        assert_eq!(
            told(&cycle(type_id::INT8), &cycle(type_id::INT16)),
            "`again.x` is int8 there, int16 here"
        );
        let lost = described(&[nested("lost", "no/msg/Where", 0)], &[]);
        assert_eq!(lost.difference(&lost.clone(), ["there", "here"]), None);
        let evil = described(&[basic(&format!("\u{1b}[31m{}", "x".repeat(10_000)), 200)], &[]);
        let text = told(&evil, &described(&[], &[]));
        assert!(!text.contains('\u{1b}') && text.len() < 200, "{text}");
    }
}
