//! Problems with messages: all are counted, and each kind is reported once.

/// Most kinds that are reported and kept: texts may have parts of messages in them, which are
/// different each time.
const MOST: usize = 8;

/// The problems so far.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    /// The first ones, each once.
    texts: Vec<String>,
    count: usize,
}

impl Problems {
    /// Counts a problem. Returns `true` if the user is to be told.
    pub(crate) fn add(&mut self, text: &str) -> bool {
        self.count += 1;
        let is_new = self.texts.len() < MOST && !self.texts.iter().any(|known| known == text);
        if is_new {
            self.texts.push(text.to_owned());
        }
        is_new
    }

    /// Returns the number of problems.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns the texts that the user was told.
    pub(crate) fn texts(&self) -> &[String] {
        &self.texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_reported_once_and_few_are_kept() {
        let mut problems = Problems::default();
        let told = (0..100).filter(|number| problems.add(&format!("kind {}", number % 2))).count();
        assert_eq!((told, problems.count(), problems.texts().len()), (2, 100, 2));
        let told = (0..100).filter(|number| problems.add(&format!("other {number}"))).count();
        assert_eq!((told, problems.count(), problems.texts().len()), (MOST - 2, 200, MOST));
    }
}
