//! Rules for the names that may pass between a host and the network, for their names there, and for
//! their rates.
//!
//! A gateway without rules passes everything. With [`Rules`] a fleet shares one network: each robot
//! decides what leaves it, has a namespace of its own, and keeps slow links free.
//!
//! # Names and patterns
//!
//! Rules apply to topics, services and actions by their names *on this host*. A [`Pattern`] is such
//! a name with stars in it:
//!
//! | pattern | matches | doesn't match |
//! |---|---|---|
//! | `/scan` | `/scan` | `/front/scan` |
//! | `/*/scan` | `/front/scan` | `/scan`, `/front/left/scan` |
//! | `/camera/**` | `/camera`, `/camera/left/image` | `/cameras` |
//! | `/**/image` | `/image`, `/camera/left/image` | `/camera/image/info` |
//!
//! `*` stands for one token, the text between two slashes; `**` for any number of tokens, including
//! none. A star stands alone between slashes: `/cam*` is refused. An action consists of topics and
//! services below `<action>/_action`, so `/navigate/**` covers the action `/navigate`.
//!
//! A name that a denial matches doesn't pass. Of the others, those that a permission matches pass;
//! without any permission, all of them do. The order of rules has no effect.
//!
//! # Namespaces
//!
//! With the namespace `robot1`, `/scan` of this host is `/robot1/scan` on the network, and
//! `/robot1/scan` of the network is `/scan` here, for publishers of any node. Each name of this
//! host has exactly one on the network and the other way round: `/robot1/scan` of this host is
//! `/robot1/robot1/scan` there. Names outside `/robot1` belong to other robots, and don't come
//! here.

use crate::wire::name;
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A name with stars; see [the module](self).
///
/// ```
/// use sinew_zenoh::rules::Pattern;
/// let images: Pattern = "/camera/**".parse()?;
/// assert!(images.matches("/camera/left/image") && !images.matches("/scan"));
/// # Ok::<(), sinew_zenoh::rules::RuleError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pattern {
    tokens: Vec<Token>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Token {
    Word(String),
    /// `*`
    One,
    /// `**`
    Any,
}

impl Pattern {
    /// Returns `true` if the pattern matches a full name, such as `/camera/left`. Texts that aren't
    /// full names never match. Takes at most as many steps as the number of tokens in the name
    /// times that in the pattern.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let Some(name) = name.strip_prefix('/') else { return false };
        let name: Vec<_> = name.split('/').collect();
        let (mut here, mut there) = (0, 0);
        // The position behind the last `**`, and the first token of the name that it hasn't taken.
        // The `**` takes one more token whenever the rest doesn't match. An earlier `**` needn't be
        // tried again: the last one can take everything that it could.
        let mut retry = None;
        while let Some(found) = name.get(there) {
            match self.tokens.get(here) {
                Some(Token::Any) => {
                    here += 1;
                    retry = Some((here, there));
                }
                Some(Token::One) => (here, there) = (here + 1, there + 1),
                Some(Token::Word(wanted)) if wanted == found => (here, there) = (here + 1, there + 1),
                _ => {
                    let Some((after, untaken)) = retry else { return false };
                    (here, there) = (after, untaken + 1);
                    retry = Some((after, there));
                }
            }
        }
        self.tokens[here..].iter().all(|token| *token == Token::Any)
    }
}

impl FromStr for Pattern {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let wrong = |problem| RuleError::Pattern { pattern: name::shown(text), problem };
        let rest = text
            .strip_prefix('/')
            .ok_or_else(|| wrong("but a pattern begins with `/`, as in `/camera/**`"))?;
        let token = |token: &str| match token {
            "*" => Ok(Token::One),
            "**" => Ok(Token::Any),
            "" => Err(wrong("but behind each `/` stands a name's token, `*` or `**`")),
            part if part.contains('*') => {
                Err(wrong("but `*` (one token) and `**` (any number) stand alone between slashes"))
            }
            word if name::is_full_name(&format!("/{word}")) => Ok(Token::Word(word.to_owned())),
            _ => Err(wrong("but names consist of ASCII letters, digits and `_`, no digit first")),
        };
        Ok(Self { tokens: rest.split('/').map(token).collect::<Result<_, _>>()? })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tokens.iter().try_for_each(|token| match token {
            Token::Word(word) => write!(f, "/{word}"),
            Token::One => f.write_str("/*"),
            Token::Any => f.write_str("/**"),
        })
    }
}

/// The namespace of a host's names on the network; see [the module](self#namespaces).
///
/// The default is none: names are the same on both sides.
///
/// ```
/// use sinew_zenoh::rules::Namespace;
/// let robot: Namespace = "robot1".parse()?;
/// assert_eq!(robot.to_remote("/scan").as_deref(), Some("/robot1/scan"));
/// assert_eq!(robot.to_local("/robot1/scan").as_deref(), Some("/scan"));
/// assert_eq!(robot.to_local("/robot2/scan"), None);
/// # Ok::<(), sinew_zenoh::rules::RuleError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Namespace {
    /// Starts with a slash; empty for none.
    prefix: String,
}

impl Namespace {
    /// Returns the network's name for the full name `local`, or for a node's namespace, which may
    /// be `/`. Returns `None` if it is not a valid name, or would be longer on the network than a
    /// name may be.
    #[must_use]
    pub fn to_remote<'a>(&self, local: &'a str) -> Option<Cow<'a, str>> {
        if !name::is_namespace(local) {
            return None;
        }
        if self.prefix.is_empty() {
            return Some(Cow::Borrowed(local));
        }
        let rest = if local == "/" { "" } else { local };
        Some(format!("{}{rest}", self.prefix)).filter(|name| name::is_full_name(name)).map(Cow::Owned)
    }

    /// Returns the local name for the full name `remote` on the network, or for a node's namespace
    /// there. Returns `None` if it is outside this namespace, or not a valid name.
    ///
    /// The namespace itself becomes `/`, which is valid for a node's namespace but not as a topic's
    /// name.
    #[must_use]
    pub fn to_local<'a>(&self, remote: &'a str) -> Option<Cow<'a, str>> {
        if !name::is_namespace(remote) {
            return None;
        }
        match remote.strip_prefix(self.prefix.as_str())? {
            "" => Some(Cow::Borrowed("/")),
            // Not of `/robot10`, which has the same beginning.
            local => local.starts_with('/').then_some(Cow::Borrowed(local)),
        }
    }
}

impl FromStr for Namespace {
    type Err = RuleError;

    /// Reads `robot1`, `/robot1` or `/site/robot1`; `/` is none.
    fn from_str(text: &str) -> Result<Self, RuleError> {
        let full = if text.starts_with('/') { text.to_owned() } else { format!("/{text}") };
        match full.as_str() {
            "/" if text == "/" => Ok(Self::default()),
            name if name::is_full_name(name) => Ok(Self { prefix: full }),
            _ => Err(RuleError::Namespace { text: name::shown(text) }),
        }
    }
}

/// Writes it with the first slash; `/` for none.
impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.prefix.is_empty() { "/" } else { &self.prefix })
    }
}

/// Lowest limit, in messages per second: one message in 1000 seconds.
pub const LOWEST_RATE: f64 = 0.001;

/// Highest limit, in messages per second.
pub const HIGHEST_RATE: f64 = 1_000_000.0;

/// A limit, in messages per second, for each topic that matches a pattern: `/camera/**=5`.
///
/// ```
/// use sinew_zenoh::rules::RateLimit;
/// let slow: RateLimit = "/camera/**=0.5".parse()?;
/// assert_eq!((slow.to_string().as_str(), slow.rate()), ("/camera/**=0.5", 0.5));
/// # Ok::<(), sinew_zenoh::rules::RuleError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RateLimit {
    pattern: Pattern,
    rate: f64,
}

impl RateLimit {
    /// Returns the pattern of the topics.
    #[must_use]
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Returns the limit for each of them, in messages per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }
}

impl FromStr for RateLimit {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let wrong = |problem| RuleError::Rate { text: name::shown(text), problem };
        let (pattern, rate) =
            text.rsplit_once('=').ok_or_else(|| wrong("but is PATTERN=HZ, as in `/camera/**=5`"))?;
        let rate: f64 =
            rate.parse().map_err(|_| wrong("but behind `=` stands a number of messages per second"))?;
        if !(LOWEST_RATE..=HIGHEST_RATE).contains(&rate) {
            return Err(wrong(
                "but the rate is from 0.001 to 1000000 messages per second; --deny lets none pass",
            ));
        }
        Ok(Self { pattern: pattern.parse()?, rate })
    }
}

impl fmt::Display for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.pattern, self.rate)
    }
}

/// Decides for each message of one topic whether it passes.
///
/// A message passes if at least one period has gone by since the previous one that passed. If
/// messages come a little early or late, the periods are counted from each other, not from the
/// messages: at 30 Hz, a limit of 10 Hz passes every third message. Over any span, at most as many
/// messages pass as the rate allows, and two more. Messages that don't pass are dropped, not
/// stored.
///
/// ```
/// use sinew_zenoh::rules::RateLimiter;
/// let mut limiter = RateLimiter::new(10.0);
/// let passed = (0..30).filter(|&message| limiter.passes(message * 33_333_333)).count();
/// assert_eq!(passed, 10);
/// ```
#[derive(Debug, Clone)]
pub struct RateLimiter {
    /// Nanoseconds.
    period: i64,
    /// Time from which the next message passes; `None` before the first one.
    next: Option<i64>,
}

impl RateLimiter {
    /// Makes a limiter that hasn't seen a message yet: the first one passes. `rate` is in messages
    /// per second, and is clamped to [`LOWEST_RATE`] and [`HIGHEST_RATE`].
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the longest period is 1e12 ns")]
    pub fn new(rate: f64) -> Self {
        let rate = if rate >= LOWEST_RATE { rate.min(HIGHEST_RATE) } else { LOWEST_RATE };
        Self { period: (1e9 / rate) as i64, next: None }
    }

    /// Returns `true` if a message that comes at `now` passes. `now` is in nanoseconds of a steady
    /// clock with any origin. Neither blocks nor allocates. If the clock goes back nevertheless,
    /// the next message passes after one period at most.
    pub fn passes(&mut self, now: i64) -> bool {
        let wait = self.next.map_or(0, |next| next.saturating_sub(now));
        if (1..=self.period).contains(&wait) {
            return false;
        }
        // On time or a little late: the next one is due a period after this one was. Otherwise from
        // now.
        let is_steady = (-self.period..=0).contains(&wait) && self.next.is_some();
        let due = if is_steady { now.saturating_add(wait) } else { now };
        self.next = Some(due.saturating_add(self.period));
        true
    }
}

/// Rules as a user writes them, each in the form of the option of the same name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleOptions {
    /// Patterns of names that pass (`--allow`); everything passes if there are none.
    pub allow: Vec<String>,
    /// Patterns of names that don't pass (`--deny`).
    pub deny: Vec<String>,
    /// The namespace of this host's names on the network (`--namespace`).
    pub namespace: Option<String>,
    /// Rate limits of topics, `PATTERN=HZ` (`--rate`).
    pub rate: Vec<String>,
}

/// Parsed rules; see [the module](self). The default passes everything unchanged.
///
/// ```
/// use sinew_zenoh::rules::{RuleOptions, Rules};
/// let mut options = RuleOptions::default();
/// options.allow.push("/camera/**".to_owned());
/// options.deny.push("/**/raw".to_owned());
/// options.namespace = Some("robot1".to_owned());
/// let rules = Rules::new(&options)?;
/// assert_eq!(rules.outward("/camera/image").as_deref(), Some("/robot1/camera/image"));
/// assert_eq!(rules.outward("/camera/raw"), None);
/// assert_eq!(rules.inward("/robot1/camera/image").as_deref(), Some("/camera/image"));
/// assert_eq!(rules.inward("/robot2/camera/image"), None);
/// # Ok::<(), sinew_zenoh::rules::RuleError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rules {
    allow: Vec<Pattern>,
    deny: Vec<Pattern>,
    namespace: Namespace,
    rates: Vec<RateLimit>,
}

impl Rules {
    /// Parses rules.
    ///
    /// # Errors
    /// [`RuleError`]: the first invalid rule.
    pub fn new(options: &RuleOptions) -> Result<Self, RuleError> {
        let RuleOptions { allow, deny, namespace, rate } = options;
        let patterns = |texts: &[String]| texts.iter().map(|text| text.parse()).collect::<Result<_, _>>();
        Ok(Self {
            allow: patterns(allow)?,
            deny: patterns(deny)?,
            namespace: namespace.as_deref().map_or(Ok(Namespace::default()), str::parse)?,
            rates: rate.iter().map(|text| text.parse()).collect::<Result<_, _>>()?,
        })
    }

    /// Returns `true` if a topic or service with this full local name may pass, in either
    /// direction. An invalid name may not.
    #[must_use]
    pub fn allows(&self, local: &str) -> bool {
        let matches = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(local));
        name::is_full_name(local) && !matches(&self.deny) && (self.allow.is_empty() || matches(&self.allow))
    }

    /// Returns the network's name of a local topic or service; `None` if it doesn't pass.
    #[must_use]
    pub fn outward<'a>(&self, local: &'a str) -> Option<Cow<'a, str>> {
        self.namespace.to_remote(local).filter(|_| self.allows(local))
    }

    /// Returns the local name of a remote topic or service; `None` if it doesn't pass.
    #[must_use]
    pub fn inward<'a>(&self, remote: &'a str) -> Option<Cow<'a, str>> {
        self.namespace.to_local(remote).filter(|local| self.allows(local))
    }

    /// Returns the namespace; it also applies to nodes.
    #[must_use]
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// Returns the limit of a topic in messages per second, for a [`RateLimiter`]; `None` if there
    /// is none. `local` is the topic's full local name. The lowest of several limits applies.
    #[must_use]
    pub fn rate(&self, local: &str) -> Option<f64> {
        let limits = self.rates.iter().filter(|limit| limit.pattern.matches(local));
        limits.map(RateLimit::rate).min_by(f64::total_cmp)
    }
}

/// A rule is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// A pattern is invalid.
    #[error("the pattern is `{pattern}`, {problem}")]
    Pattern {
        /// The text, shortened if it is long.
        pattern: String,
        /// The problem, and the expected form.
        problem: &'static str,
    },
    /// A namespace is invalid.
    #[error(
        "the namespace is `{text}`, but consists of ASCII letters, digits and `_`, no digit first, with `/` \
         between its parts: `robot1`"
    )]
    Namespace {
        /// The text, shortened if it is long.
        text: String,
    },
    /// A limit is invalid.
    #[error("the rate limit is `{text}`, {problem}")]
    Rate {
        /// The text, shortened if it is long.
        text: String,
        /// The problem, and the expected form.
        problem: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pattern(text: &str) -> Pattern {
        text.parse().unwrap()
    }

    fn rules(options: RuleOptions) -> Rules {
        Rules::new(&options).unwrap()
    }

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn what_patterns_match() {
        for (text, matched, others) in [
            ("/scan", &["/scan"][..], &["/front/scan", "/scan/front", "/scans", "scan", "", "/"][..]),
            ("/*/scan", &["/front/scan"], &["/scan", "/front/left/scan", "/front/image"]),
            ("/*", &["/scan"], &["/front/scan"]),
            ("/camera/**", &["/camera", "/camera/left/image"], &["/cameras", "/my/camera"]),
            ("/**/image", &["/image", "/camera/left/image", "/image/image"], &["/camera/image/info"]),
            ("/**", &["/a", "/a/b/c"], &["a"]),
            ("/a/**/b/**/c", &["/a/b/c", "/a/x/b/y/z/c", "/a/b/b/c/c"], &["/a/c", "/a/b", "/a/b/c/d"]),
            ("/**/**", &["/a", "/a/b"], &[]),
            ("/**/*", &["/a", "/a/b"], &[]),
            ("/**/*/a", &["/b/a", "/a/a", "/c/b/a"], &["/a"]),
        ] {
            let pattern = pattern(text);
            assert_eq!(pattern.to_string(), text);
            for name in matched {
                assert!(pattern.matches(name), "{text} {name}");
            }
            for name in others {
                assert!(!pattern.matches(name), "{text} {name}");
            }
        }
    }

    #[test]
    fn what_is_no_pattern() {
        for (text, problem) in [
            ("", "begins with `/`"),
            ("scan", "begins with `/`"),
            ("/", "behind each `/`"),
            ("/scan/", "behind each `/`"),
            ("//scan", "behind each `/`"),
            ("/cam*", "stand alone"),
            ("/***", "stand alone"),
            ("/9", "no digit first"),
            ("/a b", "ASCII letters"),
            ("/\u{1b}[2J", "ASCII letters"),
        ] {
            let error = text.parse::<Pattern>().unwrap_err().to_string();
            assert!(error.contains(problem) && !error.contains('\u{1b}'), "{text}: {error}");
        }
    }

    #[test]
    fn denials_win() {
        let all = Rules::default();
        assert!(all.allows("/scan") && !all.allows("scan") && !all.allows("/"));
        let some = rules(RuleOptions {
            allow: texts(&["/camera/**", "/scan"]),
            deny: texts(&["/**/raw"]),
            ..RuleOptions::default()
        });
        for (name, passes) in
            [("/scan", true), ("/camera/image", true), ("/camera/raw", false), ("/odom", false)]
        {
            assert_eq!(some.allows(name), passes, "{name}");
        }
        let others = rules(RuleOptions { deny: texts(&["/camera/**"]), ..RuleOptions::default() });
        assert!(others.allows("/scan") && !others.allows("/camera/image"));
    }

    #[test]
    fn names_under_a_namespace() {
        let none: Namespace = "/".parse().unwrap();
        for text in ["site/robot1", "/site/robot1"] {
            let robot: Namespace = text.parse().unwrap();
            assert_eq!(robot.to_string(), "/site/robot1");
            for (local, remote) in [
                ("/scan", "/site/robot1/scan"),
                ("/site/robot1/scan", "/site/robot1/site/robot1/scan"),
                ("/", "/site/robot1"),
            ] {
                assert_eq!(robot.to_remote(local).as_deref(), Some(remote));
                assert_eq!(robot.to_local(remote).as_deref(), Some(local));
            }
            for outside in ["/scan", "/site/robot2/scan", "/site/robot10/scan", "/site", "/"] {
                assert_eq!(robot.to_local(outside), None, "{outside}");
            }
            for wrong in ["", "site/robot1/scan", "/site/robot1/", "/site/robot1//scan", "/site/robot1/*"] {
                assert_eq!((robot.to_local(wrong), none.to_local(wrong)), (None, None), "{wrong}");
            }
            assert_eq!(robot.to_remote(&format!("/{}", "a".repeat(1020))), None);
        }
        assert_eq!(none, Namespace::default());
        assert_eq!(
            (none.to_remote("/scan"), none.to_local("/scan")),
            (Some("/scan".into()), Some("/scan".into()))
        );
        assert_eq!((none.to_remote("/"), none.to_local("/")), (Some("/".into()), Some("/".into())));
        for wrong in ["", "9", "a//b", "a/", "robot 1", "robot*"] {
            let error = wrong.parse::<Namespace>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("the namespace is `{wrong}`")), "{error}");
        }
    }

    #[test]
    fn rules_are_about_names_of_this_host() {
        let rules = rules(RuleOptions {
            deny: texts(&["/robot1/**"]),
            namespace: Some("robot1".to_owned()),
            ..RuleOptions::default()
        });
        assert_eq!(rules.inward("/robot1/scan").as_deref(), Some("/scan"));
        assert_eq!(rules.inward("/robot1/robot1/scan"), None);
        // Valid as a namespace, but not as a topic.
        assert_eq!((rules.inward("/robot1"), rules.outward("/")), (None, None));
    }

    #[test]
    fn what_is_no_limit() {
        for (text, problem) in [
            ("/scan", "PATTERN=HZ"),
            ("/scan=fast", "a number"),
            ("/scan=", "a number"),
            ("/scan=0", "from 0.001"),
            ("/scan=-1", "from 0.001"),
            ("/scan=NaN", "from 0.001"),
            ("/scan=inf", "from 0.001"),
            ("/scan=1e7", "from 0.001"),
            ("scan=5", "begins with `/`"),
        ] {
            let error = text.parse::<RateLimit>().unwrap_err().to_string();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }

    #[test]
    fn the_lowest_limit_counts() {
        let rules = rules(RuleOptions {
            rate: texts(&["/**=100", "/camera/**=2", "/camera/*=4"]),
            ..RuleOptions::default()
        });
        assert_eq!((rules.rate("/camera/image"), rules.rate("/scan")), (Some(2.0), Some(100.0)));
        assert_eq!(Rules::default().rate("/scan"), None);
    }

    #[test]
    fn a_limiter_at_odd_times() {
        let passed = |times: &[i64]| {
            let mut limiter = RateLimiter::new(10.0);
            times.iter().map(|&now| limiter.passes(now * 1_000_000)).collect::<Vec<_>>()
        };
        // Whatever the clock shows first; and a pause isn't made up for.
        assert_eq!(passed(&[-5000, -4999, -4900]), [true, false, true]);
        assert_eq!(passed(&[0, 1000, 1001, 1002, 1100]), [true, true, false, false, true]);
        // Late by half a period: the next one is due as if it hadn't been.
        assert_eq!(passed(&[0, 150, 200, 250, 300]), [true, true, true, false, true]);
        // The clock went back.
        assert_eq!(passed(&[5000, 10, 50, 110]), [true, true, false, true]);
        let mut limiter = RateLimiter::new(10.0);
        let far = [i64::MIN, i64::MAX, i64::MAX, i64::MIN].map(|now| limiter.passes(now));
        assert!(far[0] && far[1] && far[3]);
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text: String, shape in "[/*a=.0-9]{0,40}") {
            for text in [&text, &shape] {
                let _ = (text.parse::<Pattern>(), text.parse::<Namespace>(), text.parse::<RateLimit>());
                let _ = (pattern("/**/a/*").matches(text), Rules::default().inward(text));
            }
        }

        #[test]
        fn matching_is_as_the_definition_says(
            pattern in "(/(a|b|\\*|\\*\\*)){1,6}", name in "(/[ab]){1,8}",
        ) {
            fn defined(pattern: &[&str], name: &[&str]) -> bool {
                match (pattern, name) {
                    ([], rest) => rest.is_empty(),
                    (["**", after @ ..], _) => {
                        (0..=name.len()).any(|taken| defined(after, &name[taken..]))
                    }
                    ([wanted, after @ ..], [found, rest @ ..]) => {
                        (*wanted == "*" || wanted == found) && defined(after, rest)
                    }
                    (_, []) => false,
                }
            }
            let wanted: Vec<_> = pattern.split('/').skip(1).collect();
            let found: Vec<_> = name.split('/').skip(1).collect();
            prop_assert_eq!(pattern.parse::<Pattern>().unwrap().matches(&name), defined(&wanted, &found));
        }

        #[test]
        fn names_there_and_back(namespace in "[a-z]{1,3}(/[a-z]{1,3}){0,2}", name in "(/[a-z]{1,3}){1,4}") {
            let namespace: Namespace = namespace.parse().unwrap();
            let remote = namespace.to_remote(&name).unwrap();
            prop_assert_eq!(namespace.to_local(&remote), Some(name.as_str().into()));
            if let Some(local) = namespace.to_local(&name) {
                prop_assert_eq!(namespace.to_remote(&local), Some(name.as_str().into()));
            }
        }

        #[test]
        fn not_more_than_the_rate(steps in proptest::collection::vec(0i64..400_000_000, 1..200)) {
            let mut limiter = RateLimiter::new(10.0);
            let (mut now, mut passed) = (0, Vec::new());
            for step in steps {
                now += step;
                if limiter.passes(now) {
                    passed.push(now);
                }
            }
            for (first, begin) in passed.iter().enumerate() {
                for (last, end) in passed.iter().enumerate().skip(first) {
                    let count = i64::try_from(last - first).unwrap();
                    let most = (end - begin) / 100_000_000 + 1;
                    prop_assert!(count <= most, "{} in {} ns", count + 1, end - begin);
                }
            }
        }
    }
}
