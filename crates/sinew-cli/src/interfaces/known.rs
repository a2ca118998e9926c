//! Types that are known from definitions, or from the participants that use them.

use std::cmp::Reverse;
use std::fs;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::SystemTime;

use sinew::graph::GraphSnapshot;
use sinew_msg::TypeHash;
use sinew_msg::definition::TypeName;
use sinew_msg::description::{TypeDescription, type_id};
use sinew_msg::dynamic::{DynamicMessage, MessageType};
use sinew_shm::Domain;

use super::PackageSources;
use super::show::{Comments, described_alone, written};
use crate::cli::tools::Where;
use crate::error::TypesError;
use crate::observed::Observed;
use crate::similar::{self, suggestion};

/// The type ids of strings.
const TEXTS: std::ops::RangeInclusive<u8> = type_id::STRING..=type_id::BOUNDED_WSTRING;

/// All sources of types.
pub(crate) struct Types {
    sources: PackageSources,
    /// The domain with the participants' descriptions, if it exists.
    domain: Option<Domain>,
}

impl Types {
    pub(crate) fn new(sources: PackageSources, domain: Option<Domain>) -> Self {
        Self { sources, domain }
    }

    pub(crate) fn sources(&self) -> &PackageSources {
        &self.sources
    }

    /// Returns the message type of this name; with a hash, only if it has that.
    pub(crate) fn message(
        &self,
        name: &TypeName,
        hash: Option<TypeHash>,
    ) -> Result<Arc<MessageType>, TypesError> {
        if self.sources.has(name) {
            let interfaces = self.sources.load(name)?;
            let is_right = |found: TypeHash| hash.is_none_or(|hash| hash == found);
            if interfaces.hash(name).is_some_and(is_right) {
                return Ok(Arc::new(MessageType::of(&interfaces, name)?)); // with default values
            }
        }
        Ok(Arc::new(MessageType::new(&self.description(name, hash)?)?))
    }

    /// Returns the types of a service's request and response.
    pub(crate) fn service(
        &self,
        name: &TypeName,
        hash: Option<TypeHash>,
    ) -> Result<[Arc<MessageType>; 2], TypesError> {
        let inside = self.inside(name, hash)?;
        Ok([inside(&format!("{name}_Request"))?, inside(&format!("{name}_Response"))?])
    }

    /// Returns a lookup of the messages nested in a type, by their names.
    pub(crate) fn inside(
        &self,
        name: &TypeName,
        hash: Option<TypeHash>,
    ) -> Result<impl Fn(&str) -> Result<Arc<MessageType>, TypesError>, TypesError> {
        let description = self.description(name, hash)?;
        // Types from a definition have default values.
        let interfaces = self.sources.has(name).then(|| self.sources.load(name)).transpose()?;
        let interfaces = interfaces.filter(|found| found.hash(name) == Some(description.hash()));
        Ok(move |part: &str| {
            if let Some(interfaces) = &interfaces {
                let part = part.parse().map_err(|_| self.unknown(part))?;
                return Ok(Arc::new(MessageType::of(interfaces, &part)?));
            }
            let inside = description.of_inside(part).ok_or_else(|| self.unknown(part))?;
            Ok(Arc::new(MessageType::new(&inside)?))
        })
    }

    /// Returns the description of a type; with a hash, of the type with that hash.
    pub(crate) fn description(
        &self,
        name: &TypeName,
        hash: Option<TypeHash>,
    ) -> Result<TypeDescription, TypesError> {
        let mut here = None;
        if self.sources.has(name) {
            let found = self.sources.load(name)?.description(name);
            match (found, hash) {
                (Some(found), None) => return Ok(found),
                (Some(found), Some(hash)) if found.hash() == hash => return Ok(found),
                (found, _) => here = found.map(|found| found.hash()),
            }
        }
        match (hash.and_then(|hash| self.kept(hash)), here, hash) {
            (Some(kept), ..) => Ok(kept),
            (None, Some(here), Some(hash)) => Err(TypesError::Other {
                name: name.to_string(),
                hash: hash.to_string(),
                here: here.to_string(),
                looked: self.looked(),
            }),
            _ => Err(self.unknown(name.as_str())),
        }
    }

    /// Returns the description of a message type of this name: from definitions, or from a
    /// participant of the domain that uses it.
    pub(crate) fn in_use(&self, name: &TypeName, place: &Where) -> Result<TypeDescription, TypesError> {
        let known = self.description(name, None);
        if known.is_ok() {
            return known;
        }
        let seen = Observed::open(place).and_then(|mut observed| observed.read());
        let endpoints = seen.iter().flat_map(GraphSnapshot::endpoints);
        let hashes = endpoints.filter(|end| end.type_name == name.as_str()).filter_map(|end| end.type_hash);
        let in_use = hashes.filter_map(|hash| self.kept(hash)).next();
        in_use.or_else(|| self.last_kept(name)).map_or(known, Ok)
    }

    /// Returns a participant's description, current or past, of a type of this name, or of one that
    /// contains it; of several, the newest.
    fn last_kept(&self, name: &TypeName) -> Option<TypeDescription> {
        let all = self.all_kept();
        let itself = all.iter().find(|kept| kept.type_description.type_name == name.as_str());
        itself.cloned().or_else(|| all.iter().find_map(|kept| kept.of_inside(name.as_str())))
    }

    /// Returns all descriptions that participants have stored, the newest first. Invalid ones are
    /// left out.
    fn all_kept(&self) -> Vec<TypeDescription> {
        let Some(domain) = &self.domain else { return Vec::new() };
        let files = fs::read_dir(domain.descriptions()).into_iter().flatten().flatten();
        let dated = files.map(|file| {
            let date = file.metadata().and_then(|found| found.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
            (Reverse(date), file.file_name().to_string_lossy().into_owned())
        });
        let mut files: Vec<_> = dated.collect();
        files.sort_unstable();
        files.iter().filter_map(|(_, name)| kept_in(domain, name)).collect()
    }

    /// Returns a participant's description of the type with this hash. The hash proves that it is
    /// right, regardless of its writer.
    fn kept(&self, hash: TypeHash) -> Option<TypeDescription> {
        let domain = self.domain.as_ref()?;
        let problem = match domain.description(&hash.0) {
            Ok(None) => return None,
            Ok(Some(text)) => {
                let read = std::str::from_utf8(&text).ok().and_then(TypeDescription::from_json);
                match read {
                    Some(read) if read.hash() == hash => return Some(read),
                    Some(read) => format!("it has the hash {}", read.hash()),
                    None => "it is no description".to_owned(),
                }
            }
            Err(error) => error.to_string(),
        };
        // If standard error is closed, there is no place left to report to.
        let _ = writeln!(
            io::stderr(),
            "sinew: the description of {hash} in {} is ignored: {problem}",
            domain.descriptions().display()
        );
        None
    }

    /// Returns a definition as it is written, with those of nested messages; without a definition,
    /// a participant's description of the type.
    pub(super) fn text(
        &self,
        name: &TypeName,
        place: &Where,
        comments: Comments,
    ) -> Result<String, TypesError> {
        if !self.sources.has(name) {
            let found = self.in_use(name, place)?;
            MessageType::new(&found)?; // it doesn't contain itself
            return described_alone(&found, comments);
        }
        let interfaces = self.sources.load(name)?;
        let text_of = |name: &TypeName| self.sources.text(name);
        match text_of(name)? {
            Some(text) => written(&interfaces, (name, &text), comments, &text_of),
            None => {
                let found = interfaces.description(name); // of a type nested in a service or action
                match found {
                    Some(found) => described_alone(&found, comments),
                    None => Err(self.unknown(name.as_str())),
                }
            }
        }
    }

    pub(crate) fn unknown(&self, name: &str) -> TypesError {
        let (names, kept) = (self.sources.names(), self.all_kept());
        let kept = kept.iter().map(|kept| kept.type_description.type_name.as_str());
        let similar = similar::to(name, names.iter().map(TypeName::as_str).chain(kept));
        TypesError::Unknown { name: name.to_owned(), similar: suggestion(&similar), looked: self.looked() }
    }

    fn looked(&self) -> String {
        let described = match &self.domain {
            Some(domain) => format!("the descriptions in {}", domain.descriptions().display()),
            None => "no domain, since none has a participant".to_owned(),
        };
        format!("{}, {described}", self.sources.looked())
    }
}

/// Returns the description in one of the files beside the domains, if it matches the file's name.
pub(crate) fn kept_in(domain: &Domain, file: &str) -> Option<TypeDescription> {
    let hash = hash(file.strip_suffix(".json")?)?;
    let text = domain.description(&hash.0).ok().flatten()?;
    let read = std::str::from_utf8(&text).ok().and_then(TypeDescription::from_json)?;
    (read.hash() == hash).then_some(read)
}

/// Returns the size of the encoded form of the type with this hash, if a participant has described
/// it and all messages have the same size.
pub(crate) fn fixed_size(domain: &Domain, hash: &[u8; 32]) -> Option<u64> {
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let description = kept_in(domain, &(digits + ".json"))?;
    let inside = description.referenced_type_descriptions.iter();
    let mut fields = inside.chain([&description.type_description]).flat_map(|one| &one.fields);
    let is_fixed = |id: u8| id < type_id::BOUNDED_SEQUENCE && !TEXTS.contains(&(id % type_id::ARRAY));
    if !fields.all(|field| is_fixed(field.field_type.type_id)) {
        return None;
    }
    let any = DynamicMessage::new(&Arc::new(MessageType::new(&description).ok()?));
    Some(any.encode().len() as u64)
}

fn hash(digits: &str) -> Option<TypeHash> {
    let mut hash = [0; 32];
    if digits.len() != 64 || !digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    for (byte, at) in hash.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&digits[at..at + 2], 16).ok()?;
    }
    Some(TypeHash(hash))
}
