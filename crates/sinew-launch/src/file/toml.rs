//! Sinew's own launch files.
//!
//! A file is a TOML document of `arguments`, `process.NAME`, `group.NAME` and `include.NAME`, and
//! of settings for all of them. Items take effect in the order in which they are written.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::description::{
    Argument, ComponentItem, Condition, Group, Include, Item, ItemKind, ParameterItem, ParameterKind,
    ParameterValue, ProcessItem, ReadyItem, RestartItem, Words,
};
use crate::error::{LoadError, Problem};
use crate::parameter::Parameter;
use crate::place::{Place, Source};
use crate::similar::suggestion;
use crate::text::Text;

type Read<T> = Result<T, LoadError>;

/// Deepest nesting of groups and parameters; deeper ones are a mistake, and would cost stack.
const DEEPEST: usize = 64;

/// Reads a file.
pub(crate) fn read(source: &Source) -> Read<Vec<Item>> {
    let document = DeTable::parse(&source.text).map_err(|error| {
        let at = error.span().unwrap_or_default();
        Problem::Syntax { format: "TOML", message: error.message().replace('\n', ", ") }
            .at(&source.place(at.start))
    })?;
    let (place, owner) = (source.place(0), "a launch file".to_owned());
    items(&Table { source, table: document.get_ref(), place, owner, depth: 0 }, ITEMS)
}

/// Keys of a file and a group.
const ITEMS: &[&str] = &[
    "arguments",
    "process",
    "group",
    "include",
    "namespace",
    "env",
    "remap",
    "parameters",
    "parameter_files",
];
const GROUP: &[&str] = &[
    "process",
    "group",
    "include",
    "namespace",
    "env",
    "remap",
    "parameters",
    "parameter_files",
    "if",
    "unless",
    "after",
];
const ARGUMENT: &[&str] = &["default", "description", "choices"];
const INCLUDE: &[&str] = &["file", "namespace", "arguments", "if", "unless", "after"];
const PROCESS: &[&str] = &[
    "program",
    "package",
    "args",
    "ros_args",
    "node",
    "namespace",
    "remap",
    "parameters",
    "parameter_files",
    "env",
    "dir",
    "output",
    "required",
    "restart",
    "after",
    "ready",
    "signal",
    "grace",
    "grace_after_term",
    "prefix",
    "if",
    "unless",
    "components",
];
const RESTART: &[&str] = &["policy", "delay", "max_delay", "max", "window"];
const COMPONENT: &[&str] = &["type", "remap", "package", "parameters", "log_level", "if", "unless"];
const READY: &[&str] = &["service", "topic", "node", "delay", "exit", "timeout"];

/// A table of the file, and its subject.
struct Table<'a> {
    source: &'a Source,
    table: &'a DeTable<'a>,
    place: Place,
    owner: String,
    /// Number of tables around it.
    depth: usize,
}

/// One value of a table.
#[derive(Clone, Copy)]
struct Entry<'a> {
    source: &'a Source,
    key: &'a str,
    key_at: usize,
    value: &'a Spanned<DeValue<'a>>,
    depth: usize,
}

impl<'a> Table<'a> {
    /// Returns all entries in the order of the file.
    fn entries(&self) -> Vec<Entry<'a>> {
        let source = self.source;
        let entry = |(key, value): (&'a Spanned<_>, &'a Spanned<DeValue<'a>>)| {
            let name: &std::borrow::Cow<'a, str> = key.get_ref();
            Entry { source, key: name, key_at: key.span().start, value, depth: self.depth }
        };
        let mut entries: Vec<_> = self.table.iter().map(entry).collect();
        entries.sort_by_key(|entry| entry.key_at);
        entries
    }

    fn check(&self, known: &[&str]) -> Read<()> {
        for entry in self.entries() {
            if !known.contains(&entry.key) {
                let similar = suggestion(entry.key, known.iter().copied());
                let (owner, key) = (self.owner.clone(), entry.key.to_owned());
                return Err(Problem::UnknownKey { owner, key, similar, known: known.join(", ") }
                    .at(&entry.key_place()));
            }
        }
        Ok(())
    }

    fn entry(&self, key: &str) -> Option<Entry<'a>> {
        self.entries().into_iter().find(|entry| entry.key == key)
    }

    fn text(&self, key: &str) -> Read<Option<Text>> {
        self.entry(key).map(|entry| entry.text()).transpose()
    }

    fn texts(&self, key: &str) -> Read<Vec<Text>> {
        self.entry(key).map_or(Ok(Vec::new()), |entry| entry.texts())
    }

    fn condition(&self) -> Read<Condition> {
        Ok(Condition { on_true: self.text("if")?, on_false: self.text("unless")? })
    }

    /// Reads the names in `after`, each with its place.
    fn after(&self) -> Read<Vec<(String, Place)>> {
        let Some(entry) = self.entry("after") else { return Ok(Vec::new()) };
        let names = entry.texts()?.into_iter().map(|text| match text.as_literal() {
            Some(name) => Ok((name.to_owned(), text.place.clone())),
            None => Err(Problem::value("after", "a text with `$(..)`", "it names processes of the file")
                .at(&text.place)),
        });
        names.collect()
    }

    /// Reads a table of texts: `remap`, `env`, `arguments` of an include.
    fn pairs(&self, key: &str) -> Read<Vec<(Text, Text)>> {
        let Some(entry) = self.entry(key) else { return Ok(Vec::new()) };
        let table = entry.table(key)?;
        table
            .entries()
            .into_iter()
            .map(|pair| Ok((Text::parse(pair.key, &pair.key_place())?, pair.text()?)))
            .collect()
    }
}

impl<'a> Entry<'a> {
    fn key_place(&self) -> Place {
        self.source.place(self.key_at)
    }

    fn place(&self) -> Place {
        let Range { start, .. } = self.value.span();
        self.source.place(start)
    }

    fn wrong(&self, expected: &str) -> LoadError {
        let found = match self.value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a float",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        Problem::value(self.key, found, expected).at(&self.place())
    }

    fn table(&self, owner: &str) -> Read<Table<'a>> {
        match self.value.get_ref() {
            DeValue::Table(_) if self.depth == DEEPEST => {
                Err(self.wrong("tables are nested 64 deep at most"))
            }
            DeValue::Table(table) => {
                let (place, owner) = (self.key_place(), owner.to_owned());
                Ok(Table { source: self.source, table, place, owner, depth: self.depth + 1 })
            }
            _ => Err(self.wrong("it has to be a table")),
        }
    }

    /// Reads a string, or a number or boolean as it is written.
    fn text(&self) -> Read<Text> {
        text_of(self.value, &self.place())
            .unwrap_or_else(|| Err(self.wrong("it has to be a string, a number or a boolean")))
    }

    /// Reads one text, or an array of them.
    fn texts(&self) -> Read<Vec<Text>> {
        let DeValue::Array(array) = self.value.get_ref() else { return Ok(vec![self.text()?]) };
        let one = |value: &Spanned<DeValue<'_>>| {
            text_of(value, &self.source.place(value.span().start))
                .unwrap_or_else(|| Err(self.wrong("its elements have to be strings, numbers or booleans")))
        };
        array.iter().map(one).collect()
    }
}

fn text_of(value: &Spanned<DeValue<'_>>, place: &Place) -> Option<Read<Text>> {
    Some(match value.get_ref() {
        DeValue::String(text) => Text::parse(text, place),
        DeValue::Integer(number) => Ok(Text::literal(integer_text(number), place)),
        DeValue::Float(number) => Ok(Text::literal(number.as_str().replace('_', ""), place)),
        DeValue::Boolean(value) => Ok(Text::literal(value.to_string(), place)),
        _ => return None,
    })
}

/// Writes it in decimal, as the readers of this text don't know `0o`.
fn integer_text(number: &toml::de::DeInteger<'_>) -> String {
    let digits = number.as_str().replace('_', "");
    match i128::from_str_radix(&digits, number.radix()) {
        Ok(number) => number.to_string(),
        Err(_) => digits, // more than any reader accepts; rejected where it is used
    }
}

fn items(table: &Table<'_>, known: &[&str]) -> Read<Vec<Item>> {
    table.check(known)?;
    let mut items = Vec::new();
    let always = |place: Place, kind| Item { place, condition: Condition::default(), kind };
    // Settings apply to all processes of the table, wherever they are written in it.
    if let Some(entry) = table.entry("arguments") {
        for argument in entry.table("`arguments`")?.entries() {
            items.push(always(argument.key_place(), ItemKind::Argument(read_argument(&argument)?)));
        }
    }
    if let Some(namespace) = table.text("namespace")? {
        items.push(always(namespace.place.clone(), ItemKind::Namespace(namespace)));
    }
    for (name, value) in table.pairs("env")? {
        items.push(always(name.place.clone(), ItemKind::Environment { name, value: Some(value) }));
    }
    for (from, to) in table.pairs("remap")? {
        items.push(always(from.place.clone(), ItemKind::Remap { from, to }));
    }
    for parameter in parameters(table)? {
        items.push(always(parameter.place.clone(), ItemKind::Parameter(parameter)));
    }
    for entry in table.entries() {
        let kind: fn(&Table<'_>, &str) -> Read<ItemKind> = match entry.key {
            "process" => |table, name| Ok(ItemKind::Process(Box::new(read_process(table, name)?))),
            "group" => read_group,
            "include" => read_include,
            _ => continue,
        };
        for one in entry.table(entry.key)?.entries() {
            let inner = one.table(&format!("a {}", entry.key).replace("a include", "an include"))?;
            if one.key.is_empty() || one.key.contains(|c: char| c.is_control() || c == '/') {
                let expected = "names have letters, and neither `/` nor control characters in them";
                return Err(
                    Problem::value(entry.key, format!("{:?}", one.key), expected).at(&one.key_place())
                );
            }
            let kind = kind(&inner, one.key)?;
            items.push(Item { place: one.key_place(), condition: inner.condition()?, kind });
        }
    }
    // Processes, groups and includes in the order in which they are written.
    let first = items.iter().position(|item| {
        matches!(item.kind, ItemKind::Process(_) | ItemKind::Group(_) | ItemKind::Include(_))
    });
    if let Some(first) = first {
        items[first..].sort_by_key(|item| (item.place.line(), item.place.column()));
    }
    Ok(items)
}

fn read_argument(entry: &Entry<'_>) -> Read<Argument> {
    let name = entry.key.to_owned();
    // In TOML, everything that follows `[arguments]` belongs to it, up to the next table.
    let is_used = || entry.source.text.contains(&format!("$(var {name})"));
    if ITEMS.contains(&entry.key) && !is_used() {
        return Err(Problem::SettingAmongArguments { key: name }.at(&entry.key_place()));
    }
    // `rate = 30` is short for `rate = { default = 30 }`.
    if !matches!(entry.value.get_ref(), DeValue::Table(_)) {
        let is_text = matches!(entry.value.get_ref(), DeValue::String(_));
        let default = Some(entry.text()?);
        return Ok(Argument { name, default, is_text, description: String::new(), choices: Vec::new() });
    }
    let table = entry.table("an argument")?;
    table.check(ARGUMENT)?;
    let is_text =
        table.entry("default").is_some_and(|entry| matches!(entry.value.get_ref(), DeValue::String(_)));
    let description = table.text("description")?.and_then(|text| text.as_literal().map(str::to_owned));
    let choices =
        table.texts("choices")?.iter().filter_map(|text| text.as_literal().map(str::to_owned)).collect();
    let default = table.text("default")?;
    Ok(Argument { name, default, is_text, description: description.unwrap_or_default(), choices })
}

fn read_group(table: &Table<'_>, name: &str) -> Read<ItemKind> {
    let items = items(table, GROUP)?;
    Ok(ItemKind::Group(Group { name: Some(name.to_owned()), scoped: None, after: table.after()?, items }))
}

fn read_include(table: &Table<'_>, name: &str) -> Read<ItemKind> {
    table.check(INCLUDE)?;
    let Some(file) = table.text("file")? else {
        let purpose = "the launch file to include";
        return Err(Problem::Missing { owner: table.owner.clone(), key: "file", purpose }.at(&table.place));
    };
    Ok(ItemKind::Include(Include {
        name: Some(name.to_owned()),
        file,
        namespace: table.text("namespace")?,
        arguments: table.pairs("arguments")?,
        inherits: false,
        after: table.after()?,
    }))
}

fn read_process(table: &Table<'_>, name: &str) -> Read<ProcessItem> {
    table.check(PROCESS)?;
    let Some(program) = table.text("program")? else {
        let purpose = "what is to be run";
        return Err(Problem::Missing { owner: table.owner.clone(), key: "program", purpose }.at(&table.place));
    };
    let words = |key| -> Read<Vec<Words>> {
        let is_array = |entry: &Entry<'_>| matches!(entry.value.get_ref(), DeValue::Array(_));
        let one: fn(Text) -> Words = match table.entry(key) {
            Some(entry) if is_array(&entry) => Words::One,
            _ => Words::Line,
        };
        Ok(table.texts(key)?.into_iter().map(one).collect())
    };
    let environment = table.pairs("env")?.into_iter().map(|(name, value)| (name, Some(value))).collect();
    // ROS arguments as whole lines, as in ROS 2; or `false`: the program isn't one of ROS 2's.
    let takes_ros_arguments =
        table.entry("ros_args").is_none_or(|entry| entry.value.get_ref().as_bool() != Some(false));
    if !takes_ros_arguments {
        for key in ["node", "remap", "parameters", "parameter_files", "components"] {
            if let Some(entry) = table.entry(key) {
                let expected =
                    "it would be told by arguments behind `--ros-args`, which `ros_args = false` leaves out";
                return Err(Problem::value(key, "given", expected).at(&entry.key_place()));
            }
        }
    }
    Ok(ProcessItem {
        name: Some(name.to_owned()),
        package: table.text("package")?,
        program: Some(program),
        command: None,
        arguments: words("args")?,
        takes_ros_arguments,
        ros_arguments: if takes_ros_arguments { words("ros_args")? } else { Vec::new() },
        prefix: table.text("prefix")?.map(Words::Line),
        components: read_components(table)?,
        node: table.text("node")?,
        namespace: table.text("namespace")?,
        remap: table.pairs("remap")?,
        parameters: parameters(table)?,
        environment,
        directory: table.text("dir")?,
        output: table.text("output")?,
        required: table.text("required")?,
        restart: read_restart(table)?,
        after: table.after()?,
        ready: read_ready(table)?,
        signal: table.text("signal")?,
        grace: table.text("grace")?,
        grace_after_term: table.text("grace_after_term")?,
    })
}

/// Reads the components of a process: for each its type, or a table.
fn read_components(process: &Table<'_>) -> Read<Vec<ComponentItem>> {
    let Some(entry) = process.entry("components") else { return Ok(Vec::new()) };
    let one = |entry: Entry<'_>| {
        let place = entry.key_place();
        let name = Text::parse(entry.key, &place)?;
        let DeValue::Table(_) = entry.value.get_ref() else {
            return Ok(ComponentItem {
                place,
                condition: Condition::default(),
                name,
                namespace: None,
                is_below_process: true,
                type_name: entry.text()?,
                package: None,
                remap: Vec::new(),
                parameters: Vec::new(),
                log_level: None,
            });
        };
        let table = entry.table("a component")?;
        table.check(COMPONENT)?;
        let Some(type_name) = table.text("type")? else {
            let (owner, purpose) = (table.owner.clone(), "what it is, such as demo::Talker");
            return Err(Problem::Missing { owner, key: "type", purpose }.at(&place));
        };
        Ok(ComponentItem {
            place,
            condition: table.condition()?,
            name,
            namespace: None,
            is_below_process: true,
            type_name,
            package: table.text("package")?,
            remap: table.pairs("remap")?,
            parameters: parameters(&table)?,
            log_level: table.text("log_level")?,
        })
    };
    entry.table("`components`")?.entries().into_iter().map(one).collect()
}

fn read_restart(process: &Table<'_>) -> Read<RestartItem> {
    let Some(entry) = process.entry("restart") else { return Ok(RestartItem::default()) };
    if entry.value.get_ref().is_str() {
        return Ok(RestartItem { policy: Some(entry.text()?), ..RestartItem::default() });
    }
    let table = entry.table("`restart`")?;
    table.check(RESTART)?;
    Ok(RestartItem {
        policy: table.text("policy")?,
        delay: table.text("delay")?,
        max_delay: table.text("max_delay")?,
        max: table.text("max")?,
        window: table.text("window")?,
    })
}

fn read_ready(process: &Table<'_>) -> Read<ReadyItem> {
    let Some(entry) = process.entry("ready") else { return Ok(ReadyItem::default()) };
    let table = entry.table("`ready`")?;
    table.check(READY)?;
    Ok(ReadyItem {
        service: table.text("service")?,
        topic: table.text("topic")?,
        node: table.text("node")?,
        delay: table.text("delay")?,
        exit: table.text("exit")?,
        timeout: table.text("timeout")?,
    })
}

/// Files come first: values in the launch file override them.
fn parameters(table: &Table<'_>) -> Read<Vec<ParameterItem>> {
    let mut all = Vec::new();
    for path in table.texts("parameter_files")? {
        let kind = ParameterKind::File { path: path.clone(), has_substitutions: false };
        all.push(ParameterItem { place: path.place, kind });
    }
    if let Some(entry) = table.entry("parameters") {
        nested(&entry.table("`parameters`")?, "", &mut all)?;
    }
    Ok(all)
}

fn nested(table: &Table<'_>, above: &str, all: &mut Vec<ParameterItem>) -> Read<()> {
    for entry in table.entries() {
        let name = format!("{above}{}", entry.key);
        if let DeValue::Table(_) = entry.value.get_ref() {
            nested(&entry.table("`parameters`")?, &format!("{name}."), all)?;
            continue;
        }
        let place = entry.key_place();
        let value = parameter(&entry, entry.value)?;
        let kind = ParameterKind::Value { name: Text::literal(name, &place), value };
        all.push(ParameterItem { place, kind });
    }
    Ok(())
}

fn parameter(entry: &Entry<'_>, value: &Spanned<DeValue<'_>>) -> Read<ParameterValue> {
    let typed = match value.get_ref() {
        DeValue::String(_) => return Ok(ParameterValue::Text(entry.text()?)),
        DeValue::Boolean(value) => Parameter::Bool(*value),
        DeValue::Integer(number) => match integer_text(number).parse() {
            Ok(number) => Parameter::Integer(number),
            Err(_) => return Err(entry.wrong("integers have 64 bits")),
        },
        DeValue::Float(number) => match number.as_str().replace('_', "").parse() {
            Ok(number) => Parameter::Double(number),
            Err(_) => return Err(entry.wrong("this is no number")),
        },
        DeValue::Array(array) => {
            if array.iter().any(|value| value.get_ref().is_str())
                && array.iter().all(|value| value.get_ref().is_str())
            {
                let texts = entry.texts()?;
                if texts.iter().any(|text| text.as_literal().is_none()) {
                    return Ok(ParameterValue::List(texts));
                }
            }
            let mut values = Vec::new();
            for value in array {
                match value.get_ref() {
                    DeValue::String(text) => values.push(Parameter::Text(text.clone().into_owned())),
                    DeValue::Array(_) | DeValue::Table(_) | DeValue::Datetime(_) => {
                        return Err(entry.wrong("its elements have to be booleans, numbers or strings"));
                    }
                    _ => match parameter(entry, value)? {
                        ParameterValue::Typed(value) => values.push(value),
                        _ => return Err(entry.wrong("its elements have to be booleans, numbers or strings")),
                    },
                }
            }
            let list = Parameter::list(values);
            list.map_err(|message| Problem::value(entry.key, "such a list", message).at(&entry.place()))?
        }
        _ => return Err(entry.wrong("parameters are booleans, numbers, strings, lists of them, or tables")),
    };
    Ok(ParameterValue::Typed(typed))
}
