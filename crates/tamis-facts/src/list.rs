//! The elements of a zone filter.

use crate::Integer;
use serde::Serialize;
use tamis::zone::{List, Universe};

/// What a list says.
#[derive(Debug, Serialize)]
pub struct ListFacts {
    exact: bool,
    len: Integer,
    elements: Vec<String>,
}

impl ListFacts {
    /// The elements by their names in the universe.
    #[must_use]
    pub fn new(list: &List, universe: &Universe) -> ListFacts {
        let name = |number: &_| String::from_utf8_lossy(&universe.name(*number)).into_owned();
        ListFacts {
            exact: list.exact,
            len: (list.numbers.len() as u64).into(),
            elements: list.numbers.iter().map(name).collect(),
        }
    }

    /// The names.
    #[must_use]
    pub fn elements(&self) -> &[String] {
        &self.elements
    }
}
