//! Work shared among the processor's cores.
//!
//! The library has a helper too, but it is private, and its results come in any order. A report
//! needs them in order, so that it is the same on every machine.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The results of `work` on 0 to `jobs` - 1, in order. The result does not depend on the cores, as
/// long as a job depends on its number only.
pub(crate) fn in_order<T: Send>(jobs: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let cores = thread::available_parallelism().map_or(1, usize::from).min(jobs);
    let next = AtomicUsize::new(0);
    let take = || {
        let job = next.fetch_add(1, Ordering::Relaxed);
        (job < jobs).then(|| (job, work(job)))
    };
    let mut done: Vec<(usize, T)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores)
            .map(|_| scope.spawn(|| std::iter::from_fn(take).collect::<Vec<_>>()))
            .collect();
        let finished = workers.into_iter().map(|worker| match worker.join() {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        finished.flatten().collect()
    });
    done.sort_unstable_by_key(|(job, _)| *job);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::in_order;

    #[test]
    fn results_are_in_order() {
        assert_eq!(in_order(0, |job| job), Vec::<usize>::new());
        assert_eq!(
            in_order(1000, |job| job * job),
            (0..1000).map(|job| job * job).collect::<Vec<_>>()
        );
    }
}
