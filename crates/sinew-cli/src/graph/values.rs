//! The source of values for `topic pub`, `service call` and `action send_goal`.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::cli::interfaces::ValueSource;
use crate::error::Error;

/// Most bytes of a text that are read. Its message needs several times as much.
const MOST: u64 = 1 << 28;

/// Returns the user's values: from the command line, a file, or standard input.
pub(super) fn written<'a>(in_line: &'a str, source: &ValueSource) -> Result<Cow<'a, str>, Error> {
    let path = source.file.as_deref().filter(|path| *path != Path::new("-"));
    let text = match path {
        Some(path) => {
            let open =
                File::open(path).map_err(|source| Error::File { action: "read", path: path.into(), source });
            read(open?, path)?
        }
        None if source.is_given() || in_line.trim() == "-" => {
            read(io::stdin().lock(), Path::new("standard input"))?
        }
        None => return Ok(in_line.into()),
    };
    let message = one(&text);
    match message.is_empty() {
        true => Err(Error::NoValues { from: path.unwrap_or(Path::new("standard input")).into() }),
        false => Ok(message.to_owned().into()),
    }
}

fn read(from: impl Read, path: &Path) -> Result<String, Error> {
    let mut text = String::new();
    let failed = |source| Error::File { action: "read", path: path.into(), source };
    from.take(MOST + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > MOST {
        let most = format!("it is longer than {} MiB, which is the limit", MOST >> 20);
        return Err(failed(io::Error::new(io::ErrorKind::FileTooLarge, most)));
    }
    Ok(text)
}

/// Removes the `---` that `topic echo` prints behind a message.
fn one(text: &str) -> &str {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_end();
    match text.strip_suffix("---") {
        Some(rest) if rest.is_empty() || rest.ends_with('\n') => rest.trim_end(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_echoed_message_is_no_second_one() {
        for (text, message) in [
            ("data: a\n---\n", "data: a"),
            ("data: a\n", "data: a"),
            ("data: ---\n", "data: ---"),
            ("---\n", ""),
            ("\u{feff}{}\n", "{}"),
            (" \n", ""),
        ] {
            assert_eq!(one(text), message, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_text_or_too_long_is_told() {
        let path = Path::new("image.bin");
        let said = read(&b"\xff"[..], path).unwrap_err().to_string();
        assert!(said.starts_with("can't read image.bin: ") && said.contains("UTF-8"), "{said}");
        let said = read(io::repeat(b'a'), path).unwrap_err().to_string();
        assert_eq!(said, "can't read image.bin: it is longer than 256 MiB, which is the limit");
    }
}
