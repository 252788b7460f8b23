//! Progress of a long listing, and the caller's way to stop it.

use std::ops::ControlFlow;

/// How far a listing has come.
///
/// ```
/// use std::ops::ControlFlow;
/// use tamis::zone::{CountingFilter, Plan, Prefer, Universe};
/// let plan = Plan::new(Universe::sized(1000)?, 3, Prefer::Bits)?;
/// let mut filter = CountingFilter::with_plan(plan)?;
/// filter.insert(7u32)?;
/// let mut shown = 0.0;
/// let list = filter.list_with(None, &mut |progress| {
///     shown = progress.share();
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(list.numbers, [7]);
/// let stopped = filter.list_with(None, &mut |_| ControlFlow::Break(()));
/// assert!(stopped.is_err());
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The steps done.
    pub done: u64,
    /// The steps in all. They do not all take equally long.
    pub total: u64,
}

impl Progress {
    /// The share of the steps that is done, from 0 to 1.
    #[must_use]
    pub fn share(self) -> f64 {
        if self.total == 0 { 0.0 } else { (self.done as f64 / self.total as f64).min(1.0) }
    }
}

/// Reports each step to the caller, and remembers whether the caller asked to stop.
pub(crate) struct Watch<'a> {
    report: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
    progress: Progress,
    stopped: bool,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(report: &'a mut dyn FnMut(Progress) -> ControlFlow<()>) -> Watch<'a> {
        Watch { report, progress: Progress { done: 0, total: 0 }, stopped: false }
    }

    /// Begins a listing of `total` steps.
    pub(crate) fn begin(&mut self, total: usize) {
        self.progress = Progress { done: 0, total: total as u64 };
    }

    /// Reports a step. `None` if the caller asks to stop.
    pub(crate) fn step(&mut self) -> Option<()> {
        self.progress.done += 1;
        self.stopped = self.stopped || (self.report)(self.progress).is_break();
        (!self.stopped).then_some(())
    }

    /// Whether the caller asked to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }
}

/// Runs a listing that nobody watches.
#[cfg(test)]
pub(crate) fn unwatched<T>(list: impl FnOnce(&mut Watch) -> T) -> T {
    list(&mut Watch::new(&mut |_| ControlFlow::Continue(())))
}
