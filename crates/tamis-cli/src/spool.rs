//! Digests of a set that may be larger than memory: some in memory, the others in a temporary file.
//!
//! They are kept in parts, by the top bits of the digest. A part is a piece of the order in which
//! shards of a static filter come, so that shards can be built one after the other.

use anyhow::{Context, bail};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use tamis::Digest;

/// The parts, as bits of the digest: 1024 parts of a set of 10^9 keys have 16 MB each.
const PART_BITS: u32 = 10;
/// The bytes of a digest.
const BYTES: usize = 16;
/// The fewest digests that are written together.
const LEAST: usize = 8;

/// Digests in parts.
pub(crate) struct Spool {
    parts: Vec<Part>,
    /// The bytes that the parts may take in memory, and those that they take.
    allowed: usize,
    taken: usize,
    /// Where the temporary file goes, if one is needed.
    folder: PathBuf,
    file: Option<File>,
    written: u64,
}

#[derive(Default)]
struct Part {
    near: Vec<u128>,
    /// What is in the file: where it begins, and how many digests.
    far: Vec<(u64, usize)>,
}

impl Spool {
    /// Nothing yet. Up to `allowed` bytes stay in memory; the rest goes to a file in `folder`,
    /// which has no name there and is gone when the process ends, however it ends.
    pub(crate) fn new(allowed: u64, folder: PathBuf) -> Spool {
        let parts = (0..1 << PART_BITS).map(|_| Part::default()).collect();
        let allowed = usize::try_from(allowed).unwrap_or(usize::MAX);
        Spool { parts, allowed, taken: 0, folder, file: None, written: 0 }
    }

    /// How many parts there are.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The bytes that went to the file.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// The first shard, of so many, that part `index` can have keys of.
    pub(crate) fn first_shard(index: usize, shards: u64) -> u64 {
        ((index as u128 * u128::from(shards)) >> PART_BITS) as u64
    }

    /// Takes a digest.
    #[inline]
    pub(crate) fn push(&mut self, digest: Digest) -> anyhow::Result<()> {
        // The low half of a digest tells its place, the high half tells the rest.
        let ordered = u128::from(digest).rotate_left(64);
        let index = (ordered >> (128 - PART_BITS)) as usize;
        let near = &self.parts[index].near;
        if near.len() == near.capacity() {
            self.make_room(index)?;
        }
        self.parts[index].near.push(ordered);
        Ok(())
    }

    /// Doubles the memory of a part, or writes it to the file.
    fn make_room(&mut self, index: usize) -> anyhow::Result<()> {
        let near = &mut self.parts[index].near;
        let more = near.len().max(LEAST);
        if self.taken + more * BYTES > self.allowed && near.len() >= LEAST {
            return self.write(index);
        }
        if near.try_reserve_exact(more).is_err() {
            if near.is_empty() {
                bail!("there is no memory for a few keys; allow more of it");
            }
            return self.write(index);
        }
        self.taken += more * BYTES;
        Ok(())
    }

    /// Writes what a part has in memory to the end of the file.
    fn write(&mut self, index: usize) -> anyhow::Result<()> {
        let shown = self.folder.display();
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(&self.folder).with_context(|| {
                format!("cannot make a temporary file in {shown}; name a folder: --temp-dir")
            })?),
        };
        let part = &mut self.parts[index];
        let context = || {
            format!("cannot write keys to a temporary file in {shown}; name another: --temp-dir")
        };
        file.seek(SeekFrom::Start(self.written)).with_context(context)?;
        let mut bytes = Vec::with_capacity(BYTES * part.near.len().min(4_096));
        for some in part.near.chunks(4_096) {
            bytes.clear();
            bytes.extend(some.iter().flat_map(|digest| digest.to_le_bytes()));
            file.write_all(&bytes).with_context(context)?;
        }
        part.far.push((self.written, part.near.len()));
        self.written += (BYTES * part.near.len()) as u64;
        part.near.clear();
        Ok(())
    }

    /// Writes everything to the file, and gives the memory back.
    pub(crate) fn write_all(&mut self) -> anyhow::Result<()> {
        for index in 0..self.parts.len() {
            if !self.parts[index].near.is_empty() {
                self.write(index)?;
            }
            self.parts[index].near = Vec::new();
        }
        self.taken = 0;
        Ok(())
    }

    /// The bytes that the parts take in memory.
    pub(crate) fn taken(&self) -> u64 {
        self.taken as u64
    }

    /// The digests of a part, as often as they came.
    fn read(&mut self, index: usize) -> anyhow::Result<Vec<u128>> {
        let part = &mut self.parts[index];
        if part.far.is_empty() {
            self.taken -= BYTES * part.near.capacity();
            return Ok(std::mem::take(&mut part.near));
        }
        let count = part.near.len() + part.far.iter().map(|(_, count)| count).sum::<usize>();
        let mut all = Vec::new();
        if all.try_reserve_exact(count).is_err() {
            bail!("there is no memory for {count} keys; free some, or give a smaller set");
        }
        all.extend_from_slice(&part.near);
        let mut bytes = vec![0; BYTES * 4_096];
        for (start, count) in &part.far {
            let Some(file) = &mut self.file else { break };
            file.seek(SeekFrom::Start(*start))?;
            let mut left = *count;
            while left > 0 {
                let some = &mut bytes[..BYTES * left.min(4_096)];
                file.read_exact(some).context("cannot read the temporary file again")?;
                let (digests, _) = some.as_chunks::<BYTES>();
                all.extend(digests.iter().map(|digest| u128::from_le_bytes(*digest)));
                left -= digests.len();
            }
        }
        Ok(all)
    }

    /// How many distinct digests a part has. It keeps these only, as far as they are in memory.
    pub(crate) fn count(&mut self, index: usize) -> anyhow::Result<u64> {
        let is_near = self.parts[index].far.is_empty();
        let mut all = self.read(index)?;
        all.sort_unstable();
        all.dedup();
        let count = all.len() as u64;
        if is_near {
            self.taken += BYTES * all.capacity();
            self.parts[index].near = all;
        }
        Ok(count)
    }

    /// The digests of a part, which has none afterwards.
    pub(crate) fn take(&mut self, index: usize) -> anyhow::Result<impl Iterator<Item = Digest>> {
        let all = self.read(index)?;
        let part = &mut self.parts[index];
        self.taken -= BYTES * part.near.capacity();
        *part = Part::default();
        Ok(all.into_iter().map(|ordered| Digest::from(ordered.rotate_left(64))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use tamis::HashFamily;

    /// Whatever is allowed in memory, the same digests come out, part by part.
    #[test]
    fn nothing_is_lost() {
        let hash = HashFamily::default();
        let digests: Vec<u128> =
            (0..40_000u64).map(|key| hash.digest(key % 30_000).unwrap().into()).collect();
        let distinct: BTreeSet<u128> = digests.iter().copied().collect();
        for allowed in [0, 20_000, 400_000, 1 << 30] {
            let folder = tempfile::tempdir().unwrap();
            let mut spool = Spool::new(allowed, folder.path().to_owned());
            for digest in &digests {
                spool.push(Digest::from(*digest)).unwrap();
            }
            assert_eq!(spool.written() > 0, allowed < 1 << 30, "{allowed}");
            let least = (LEAST * BYTES * spool.parts()) as u64;
            assert!(spool.taken() <= allowed.max(least), "{}", spool.taken());
            // The file has no name.
            assert_eq!(folder.path().read_dir().unwrap().count(), 0);
            let counted: u64 = (0..spool.parts()).map(|part| spool.count(part).unwrap()).sum();
            assert_eq!(counted, 30_000);
            if allowed == 400_000 {
                spool.write_all().unwrap();
                assert_eq!(spool.taken(), 0);
            }
            let mut found = BTreeSet::new();
            for part in 0..spool.parts() {
                for digest in spool.take(part).unwrap() {
                    let first = Spool::first_shard(part, 1 << 40);
                    let h1 = u128::from(digest) as u64 >> 54;
                    assert_eq!(h1, part as u64);
                    assert!(first <= h1 << 30);
                    found.insert(u128::from(digest));
                }
            }
            assert_eq!(found, distinct);
            assert_eq!(spool.taken(), 0);
        }
    }
}
