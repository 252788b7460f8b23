//! A value that Python threads share.
//!
//! An interpreter with a global lock runs one attached thread at a time, so an attached thread may
//! use the value at once, unless a thread works on it without the global lock. Such a thread says
//! so before it detaches, in a [`Session`]. That saves the two atomic changes of a lock, which
//! take as long as a lookup. An interpreter without a global lock always takes the lock.
//!
//! No Python code runs while the value is in use, so a thread that uses it always finishes. A
//! thread that has to wait lets other Python threads run meanwhile.
#![allow(unsafe_code)] // the global lock of the interpreter guards the value

use pyo3::prelude::*;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

pub(crate) struct Guarded<T> {
    /// The threads that use the value, or are about to, without the global lock.
    sessions: AtomicUsize,
    lock: RwLock<()>,
    value: UnsafeCell<T>,
}

// SAFETY: `read` and `write` hand the value out as a lock would, see there.
unsafe impl<T: Send + Sync> Sync for Guarded<T> {}

impl<T: Send + Sync> Guarded<T> {
    pub(crate) fn new(value: T) -> Guarded<T> {
        let (sessions, lock) = (AtomicUsize::new(0), RwLock::new(()));
        Guarded { sessions, lock, value: UnsafeCell::new(value) }
    }

    /// Lets the value be used without the global lock until the session is dropped.
    pub(crate) fn session(&self, _py: Python<'_>) -> Session<'_, T> {
        self.sessions.fetch_add(1, Ordering::AcqRel);
        Session(self)
    }

    /// Reads the value. For work so short that other threads may wait for it.
    #[inline]
    pub(crate) fn read<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&T) -> R + Send) -> R {
        #[cfg(not(Py_GIL_DISABLED))]
        if self.sessions.load(Ordering::Acquire) == 0 {
            // SAFETY: this thread holds the global lock, `work` does not give it up, and a session
            // begins only under the global lock. So nobody else uses the value meanwhile.
            return work(unsafe { &*self.value.get() });
        }
        #[cfg(Py_GIL_DISABLED)]
        if let Ok(_guard) = self.lock.try_read() {
            // SAFETY: the lock is held, and without a global lock everybody takes it.
            return work(unsafe { &*self.value.get() });
        }
        self.read_long(py, work)
    }

    /// Reads the value, while other Python threads run.
    #[inline(never)]
    pub(crate) fn read_long<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&T) -> R + Send,
    ) -> R {
        let session = self.session(py);
        py.detach(|| session.read(work))
    }

    /// Changes the value. For work so short that other threads may wait for it.
    #[inline]
    pub(crate) fn write<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut T) -> R + Send,
    ) -> R {
        #[cfg(not(Py_GIL_DISABLED))]
        if self.sessions.load(Ordering::Acquire) == 0 {
            // SAFETY: as in `read`.
            return work(unsafe { &mut *self.value.get() });
        }
        #[cfg(Py_GIL_DISABLED)]
        if let Ok(_guard) = self.lock.try_write() {
            // SAFETY: as in `read`.
            return work(unsafe { &mut *self.value.get() });
        }
        self.write_long(py, work)
    }

    /// Changes the value, while other Python threads run.
    #[inline(never)]
    pub(crate) fn write_long<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut T) -> R + Send,
    ) -> R {
        let session = self.session(py);
        py.detach(|| session.write(work))
    }

    /// Changes one value by another one, while other Python threads run. The locks are taken in the
    /// order of their addresses, so that two threads never wait for each other.
    pub(crate) fn write_by<R: Send>(
        &self,
        py: Python<'_>,
        other: &Guarded<T>,
        work: impl FnOnce(&mut T, &T) -> R + Send,
    ) -> R {
        assert!(!std::ptr::eq(self, other), "a value is not changed by itself");
        let sessions = (self.session(py), other.session(py));
        py.detach(|| {
            let _sessions = &sessions;
            let (_mine, _theirs);
            if std::ptr::from_ref(self) < std::ptr::from_ref(other) {
                _mine = self.lock.write().unwrap_or_else(PoisonError::into_inner);
                _theirs = other.lock.read().unwrap_or_else(PoisonError::into_inner);
            } else {
                _theirs = other.lock.read().unwrap_or_else(PoisonError::into_inner);
                _mine = self.lock.write().unwrap_or_else(PoisonError::into_inner);
            }
            // SAFETY: both locks are held, and sessions keep those away who would not take them.
            work(unsafe { &mut *self.value.get() }, unsafe { &*other.value.get() })
        })
    }

    /// Reads two values at once, while other Python threads run.
    pub(crate) fn read_both<R: Send>(
        &self,
        py: Python<'_>,
        other: &Guarded<T>,
        work: impl FnOnce(&T, &T) -> R + Send,
    ) -> R {
        if std::ptr::eq(self, other) {
            return self.read_long(py, |value| work(value, value));
        }
        let sessions = (self.session(py), other.session(py));
        py.detach(|| {
            let _sessions = &sessions;
            let by_address = std::ptr::from_ref(self) < std::ptr::from_ref(other);
            let (first, second) = if by_address { (self, other) } else { (other, self) };
            let _first = first.lock.read().unwrap_or_else(PoisonError::into_inner);
            let _second = second.lock.read().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: as in `write_by`.
            work(unsafe { &*self.value.get() }, unsafe { &*other.value.get() })
        })
    }
}

/// The right to use a value without the global lock.
pub(crate) struct Session<'a, T: Send + Sync>(&'a Guarded<T>);

impl<T: Send + Sync> Session<'_, T> {
    pub(crate) fn read<R>(&self, work: impl FnOnce(&T) -> R) -> R {
        let _guard = self.0.lock.read().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the lock is held, and the session keeps those away who would not take it.
        work(unsafe { &*self.0.value.get() })
    }

    pub(crate) fn write<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let _guard = self.0.lock.write().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as in `read`.
        work(unsafe { &mut *self.0.value.get() })
    }
}

impl<T: Send + Sync> Drop for Session<'_, T> {
    fn drop(&mut self) {
        self.0.sessions.fetch_sub(1, Ordering::AcqRel);
    }
}
