//! Work that is shared among threads.

use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does the work on every part, in up to `threads` threads. Each takes the next part when it is
/// done with one, so a slow thread does not delay the others. If the system refuses threads, the
/// others do their work. The results come in any order.
pub(crate) fn share<P, R: Send>(
    threads: usize,
    parts: impl Iterator<Item = P> + Send,
    work: impl Fn(P) -> R + Sync,
) -> Vec<R> {
    let parts = Mutex::new(parts);
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || std::iter::from_fn(next).map(&work).collect::<Vec<R>>();
    thread::scope(|scope| {
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, run).ok();
        let others: Vec<_> = (1..threads).map_while(spawn).collect();
        let mut results = run();
        for other in others {
            match other.join() {
                Ok(more) => results.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
}
