//! Damage in a bag, and mending it.

use serde_json::json;

use super::info::count;
use super::losses::texts;
use crate::cli::bag::BagPathOptions;
use crate::error::Error;
use crate::output::{print, print_json, says};

/// Runs `sinew bag check`.
pub(super) fn check(options: &BagPathOptions) -> Result<(), Error> {
    let problems = sinew_bag::check(&options.bag)?;
    let texts = texts(&problems);
    if options.json {
        print_json(&json!({"sound": texts.is_empty(), "problems": texts}))?;
    } else if texts.is_empty() {
        print(&format!("{} is sound\n", options.bag.display()))?;
    } else {
        print(&texts.iter().map(|text| format!("{text}\n")).collect::<String>())?;
    }
    if texts.is_empty() { Ok(()) } else { Err(Error::DamagedBag { count: texts.len() }) }
}

/// Runs `sinew bag reindex`.
pub(super) fn reindex(options: &BagPathOptions) -> Result<(), Error> {
    let done = sinew_bag::reindex(&options.bag)?;
    let (messages, files) = (done.metadata.message_count, done.metadata.files.len());
    if options.json {
        let lost = texts(&done.lost);
        return print_json(&json!({
            "messages": messages, "files": files, "rewritten": done.rewritten, "lost": lost,
        }));
    }
    for problem in texts(&done.lost) {
        says(&format!("warning: {problem}"));
    }
    for name in &done.rewritten {
        print(&format!("{name} is written anew, with a summary\n"))?;
    }
    print(&format!(
        "metadata.yaml is written: {} in {}\n",
        count(messages, "message"),
        count(files as u64, "file")
    ))
}
