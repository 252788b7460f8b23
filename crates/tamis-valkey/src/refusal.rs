//! Why a command was refused: the text of its error reply.

use std::borrow::Cow;

/// A command answers itself, or says why it cannot.
pub(crate) type Outcome = Result<(), Refusal>;

/// The text of an error reply, with its first word (`ERR`, `WRONGTYPE`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal(Cow<'static, str>);

impl Refusal {
    pub(crate) const fn new(text: &'static str) -> Refusal {
        Refusal(Cow::Borrowed(text))
    }

    pub(crate) fn say(text: impl Into<String>) -> Refusal {
        // An error is one line of the protocol.
        Refusal(Cow::Owned(text.into().replace(['\r', '\n'], " ")))
    }

    pub(crate) const fn wrong_type() -> Refusal {
        Refusal::new("WRONGTYPE Operation against a key holding the wrong kind of value")
    }

    pub(crate) const fn not_found() -> Refusal {
        Refusal::new("ERR not found")
    }

    pub(crate) const fn internal() -> Refusal {
        Refusal::new("ERR a fault in the module tamis: the command was given up. Please report it")
    }

    pub(crate) const fn arriving() -> Refusal {
        Refusal::new("ERR the filter is still being loaded: send its other chunks first")
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl From<tamis::Error> for Refusal {
    fn from(error: tamis::Error) -> Refusal {
        Refusal::say(format!("ERR {error}"))
    }
}
