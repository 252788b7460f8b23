//! A privacy budget in a key.
//!
//! The library's ledger is a file that is synced before a charge counts. Here the server keeps it:
//! a charge is as durable as the server's other writes. With `appendfsync always` it is on disk
//! before the reply is sent.

use crate::refusal::Refusal;
use crate::value::Part;
use tamis::privacy::Epsilon;

/// A budget, and what was spent of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ledger {
    budget: Epsilon,
    spent: Epsilon,
    /// One line for each charge, as text: the milliseconds since 1970, epsilon in billionths, and
    /// what it was for.
    text: Vec<u8>,
    charges: u64,
}

/// The most bytes of lines: a ledger is read as a whole.
const MAX_BYTES: usize = 64 << 20;

impl Ledger {
    pub(crate) fn new(budget: Epsilon) -> Result<Ledger, Refusal> {
        if budget == Epsilon::ZERO {
            return Err(Refusal::new("ERR a budget of 0 allows nothing: ask for more"));
        }
        let text = format!("{}\n", budget.billionths()).into_bytes();
        Ok(Ledger { budget, spent: Epsilon::ZERO, text, charges: 0 })
    }

    pub(crate) fn budget(&self) -> Epsilon {
        self.budget
    }

    pub(crate) fn spent(&self) -> Epsilon {
        self.spent
    }

    pub(crate) fn left(&self) -> Epsilon {
        self.budget.checked_sub(self.spent).unwrap_or(Epsilon::ZERO)
    }

    pub(crate) fn charges(&self) -> u64 {
        self.charges
    }

    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Spends epsilon, or refuses and changes nothing.
    pub(crate) fn charge(
        &mut self,
        epsilon: Epsilon,
        milliseconds: u64,
        what: &[u8],
    ) -> Result<(), Refusal> {
        if epsilon == Epsilon::ZERO {
            return Err(Refusal::new("ERR a charge of 0 is none: ask for more"));
        }
        let spent = self.spent.checked_add(epsilon).filter(|spent| *spent <= self.budget);
        let Some(spent) = spent else {
            let left = self.left();
            return Err(Refusal::say(format!(
                "ERR the ledger has {left} of {} left, which is less than {epsilon}",
                self.budget
            )));
        };
        let what = what.escape_ascii();
        let line = format!("{milliseconds} {} {what}\n", epsilon.billionths());
        if self.text.len() + line.len() > MAX_BYTES {
            return Err(Refusal::new("ERR the ledger is full: begin another one"));
        }
        self.text.extend_from_slice(line.as_bytes());
        self.spent = spent;
        self.charges += 1;
        Ok(())
    }

    pub(crate) fn parts(&self) -> Vec<Part<'_>> {
        vec![Part::Bytes(&self.text)]
    }

    /// Reads the lines, and adds up what they spent.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Ledger> {
        if bytes.len() > MAX_BYTES {
            return None;
        }
        let text = std::str::from_utf8(bytes).ok()?;
        let mut lines = text.strip_suffix('\n')?.split('\n');
        let epsilon = |word: &str| Epsilon::from_billionths(word.parse().ok()?);
        let mut ledger = Ledger::new(epsilon(lines.next()?)?).ok()?;
        for line in lines {
            let mut words = line.splitn(3, ' ');
            let milliseconds: u64 = words.next()?.parse().ok()?;
            let (spent, what) = (epsilon(words.next()?)?, words.next()?);
            let before = ledger.text.len();
            ledger.charge(spent, milliseconds, b"").ok()?;
            ledger.text.truncate(before);
            ledger.text.extend_from_slice(line.as_bytes());
            ledger.text.push(b'\n');
            let _ = what;
        }
        (ledger.text == bytes).then_some(ledger)
    }
}
