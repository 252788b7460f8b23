//! Threads that the system may refuse: an error, where the standard library would panic.

use anyhow::Context;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

const REFUSED: &str = "the system refuses another thread; free some memory, or raise the limit of \
                       memory or processes";

pub(crate) fn spawn<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> anyhow::Result<JoinHandle<T>> {
    Builder::new().spawn(work).context(REFUSED)
}

pub(crate) fn spawn_scoped<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> anyhow::Result<ScopedJoinHandle<'scope, T>> {
    Builder::new().spawn_scoped(scope, work).context(REFUSED)
}
