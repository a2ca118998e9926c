//! The expressions of `$(eval ..)`: comparisons of numbers and texts, joined by `and`, `or`, `not`.
//!
//! ROS 2 hands the text to Python. A launch file that needs more than these expressions needs a
//! program.

/// The value of an expression.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Bool(bool),
    Number(f64),
    Text(String),
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Value(Value),
    And,
    Or,
    Not,
    Open,
    Close,
    Compare(&'static str),
}

/// Deepest nesting of brackets; deeper ones are a mistake, and would cost stack.
const DEEPEST: usize = 32;

/// Evaluates an expression, and returns its value as a text: `true` or `false`, a number, or a
/// text.
pub(crate) fn evaluate(text: &str) -> Result<String, String> {
    let mut reading = Reading { tokens: tokens(text)?, next: 0, depth: 0 };
    let value = reading.or()?;
    if let Some(token) = reading.tokens.get(reading.next) {
        return Err(format!("{} isn't expected there", shown(token)));
    }
    Ok(match value {
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::Text(text) => text,
    })
}

const COMPARISONS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if let Some(sign) = COMPARISONS.into_iter().find(|sign| rest.starts_with(sign)) {
            tokens.push(Token::Compare(sign));
            rest = &rest[sign.len()..];
        } else if let '(' | ')' = first {
            tokens.push(if first == '(' { Token::Open } else { Token::Close });
            rest = &rest[1..];
        } else if let '\'' | '"' = first {
            let (inside, after) = rest[1..].split_once(first).ok_or("a quote is never closed")?;
            tokens.push(Token::Value(Value::Text(inside.to_owned())));
            rest = after;
        } else {
            let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '+');
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            tokens.push(match word {
                "and" => Token::And,
                "or" => Token::Or,
                "not" => Token::Not,
                "true" | "True" => Token::Value(Value::Bool(true)),
                "false" | "False" => Token::Value(Value::Bool(false)),
                word => match word.parse() {
                    Ok(number) => Token::Value(Value::Number(number)),
                    Err(_) => return Err(unknown(word, first)),
                },
            });
            rest = after;
        }
        rest = rest.trim_start();
    }
    Ok(tokens)
}

fn unknown(word: &str, first: char) -> String {
    let shown = if word.is_empty() { first.to_string() } else { word.to_owned() };
    format!(
        "`{shown}` isn't understood: there may be numbers, texts in quotes, True, False, == != < <= > >=, and, or, not, brackets"
    )
}

struct Reading {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
}

impl Reading {
    fn take(&mut self, wanted: &Token) -> bool {
        let found = self.tokens.get(self.next) == Some(wanted);
        self.next += usize::from(found);
        found
    }

    fn or(&mut self) -> Result<Value, String> {
        let mut value = self.and()?;
        while self.take(&Token::Or) {
            let right = truth(&self.and()?)?;
            value = Value::Bool(truth(&value)? || right);
        }
        Ok(value)
    }

    fn and(&mut self) -> Result<Value, String> {
        let mut value = self.not()?;
        while self.take(&Token::And) {
            let right = truth(&self.not()?)?;
            value = Value::Bool(truth(&value)? && right);
        }
        Ok(value)
    }

    fn not(&mut self) -> Result<Value, String> {
        let mut negated = None;
        while self.take(&Token::Not) {
            negated = Some(!negated.unwrap_or(false));
        }
        let value = self.comparison()?;
        match negated {
            Some(negated) => Ok(Value::Bool(truth(&value)? != negated)),
            None => Ok(value),
        }
    }

    fn comparison(&mut self) -> Result<Value, String> {
        let left = self.primary()?;
        let Some(Token::Compare(sign)) = self.tokens.get(self.next) else { return Ok(left) };
        let sign = *sign;
        self.next += 1;
        let right = self.primary()?;
        compare(&left, sign, &right).map(Value::Bool)
    }

    fn primary(&mut self) -> Result<Value, String> {
        let token = self.tokens.get(self.next).cloned().ok_or("something is missing at the end")?;
        self.next += 1;
        match token {
            Token::Value(value) => Ok(value),
            Token::Open if self.depth == DEEPEST => Err("brackets are nested more than 32 deep".to_owned()),
            Token::Open => {
                self.depth += 1;
                let value = self.or()?;
                self.depth -= 1;
                if self.take(&Token::Close) { Ok(value) } else { Err("a bracket is never closed".to_owned()) }
            }
            token => Err(format!("{} isn't expected there", shown(&token))),
        }
    }
}

fn compare(left: &Value, sign: &str, right: &Value) -> Result<bool, String> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let order = match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.partial_cmp(right),
        (Value::Text(left), Value::Text(right)) => Some(left.cmp(right)),
        (left, right) if matches!(sign, "==" | "!=") => return Ok((left == right) == (sign == "==")),
        _ => return Err(format!("`{sign}` compares two numbers or two texts")),
    };
    Ok(match sign {
        "==" => order == Some(Equal),
        "!=" => order != Some(Equal),
        "<" => order == Some(Less),
        ">" => order == Some(Greater),
        "<=" => matches!(order, Some(Less | Equal)),
        _ => matches!(order, Some(Greater | Equal)),
    })
}

fn truth(value: &Value) -> Result<bool, String> {
    match value {
        Value::Bool(value) => Ok(*value),
        Value::Number(number) => Err(format!("{number} is neither true nor false")),
        Value::Text(text) => self::boolean(text).ok_or_else(|| format!("'{text}' is neither true nor false")),
    }
}

/// Parses a condition's text as a boolean, by ROS 2's rules.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

fn shown(token: &Token) -> String {
    match token {
        Token::Value(Value::Bool(value)) => format!("`{value}`"),
        Token::Value(Value::Number(value)) => format!("`{value}`"),
        Token::Value(Value::Text(text)) => format!("'{text}'"),
        Token::And => "`and`".to_owned(),
        Token::Or => "`or`".to_owned(),
        Token::Not => "`not`".to_owned(),
        Token::Open => "`(`".to_owned(),
        Token::Close => "`)`".to_owned(),
        Token::Compare(sign) => format!("`{sign}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::evaluate;

    #[test]
    fn comparisons_and_their_joints() {
        for (text, value) in [
            ("'sim' == 'sim'", "true"),
            ("\"sim\" != 'sim'", "false"),
            ("2 < 10 and not 3 >= 4", "true"),
            ("'2' < '10'", "false"),
            ("1 == 2 or (True and 'a' == 'a')", "true"),
            ("not not True", "true"),
            ("2 == '2'", "false"),
            ("-1.5", "-1.5"),
            ("'text'", "text"),
            ("'true' and 1 == 1.0", "true"),
        ] {
            assert_eq!(evaluate(text).as_deref(), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_gets_a_sentence() {
        for (text, part) in [
            ("", "missing at the end"),
            ("1 +", "isn't understood"),
            ("len('a')", "`len` isn't understood"),
            ("'a' < 1", "compares two numbers or two texts"),
            ("(1 == 1", "never closed"),
            ("'a", "never closed"),
            ("1 == 1 1", "isn't expected"),
            ("3 and 1 == 1", "neither true nor false"),
            ("== 1", "isn't expected"),
        ] {
            let error = evaluate(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(evaluate(&"(".repeat(1000)).unwrap_err().contains("32 deep"));
    }
}
