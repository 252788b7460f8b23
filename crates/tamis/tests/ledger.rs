//! The ledger as a file: charges of threads and of processes, a full disk, a crash, and repair.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use tamis::Error;
use tamis::privacy::{Epsilon, Ledger, LedgerError};
use tempfile::TempDir;

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.ledger");
    (folder, path)
}

/// Charges as often as asked, and says how often that worked.
fn charge_often(path: &Path, amount: Epsilon, times: u32, name: &str) -> usize {
    let mut ledger = Ledger::open(path).unwrap();
    (0..times)
        .filter(|i| match ledger.charge(amount, &format!("{name}, number {i}")) {
            Ok(receipt) => {
                let entry = &ledger.entries()[receipt.sequence().unwrap() as usize - 1];
                assert_eq!(
                    (entry.epsilon, entry.note.as_str()),
                    (amount, &*format!("{name}, number {i}"))
                );
                true
            }
            Err(Error::Ledger(LedgerError::Budget { left, asked, .. })) => {
                assert!(left < asked);
                false
            }
            Err(error) => panic!("{error}"),
        })
        .count()
}

/// What another process does, run by the tests below; it is no test of its own.
#[test]
#[ignore = "run by other tests, in a process of its own"]
fn child() {
    let Ok(path) = std::env::var("LEDGER_OF_CHILD") else { return };
    let amount = epsilon(&std::env::var("AMOUNT_OF_CHILD").unwrap());
    let times: u32 = std::env::var("TIMES_OF_CHILD").unwrap().parse().unwrap();
    charge_often(Path::new(&path), amount, times, "child");
}

/// A process that charges, under a limit that the shell sets.
fn child_command(limit: &str, path: &Path, amount: &str, times: u32) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{limit} exec \"$0\" --exact child --ignored --test-threads 1")])
        .arg(std::env::current_exe().unwrap())
        .env("LEDGER_OF_CHILD", path)
        .env("AMOUNT_OF_CHILD", amount)
        .env("TIMES_OF_CHILD", times.to_string())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    command
}

#[test]
fn a_ledger_is_made_once_and_remembers() {
    let (_folder, path) = place();
    let mut ledger = Ledger::create(&path, epsilon("1"), "été").unwrap();
    assert!(
        Ledger::create(&path, epsilon("2"), "")
            .unwrap_err()
            .to_string()
            .contains("never overwritten")
    );
    for i in 1..=10u64 {
        let receipt = ledger.charge(epsilon("0.1"), &format!("release {i}\n")).unwrap();
        assert_eq!((receipt.sequence(), receipt.epsilon()), (Some(i), epsilon("0.1")));
        let left = Epsilon::from_billionths(1_000_000_000 - i * 100_000_000);
        assert_eq!((receipt.left(), receipt.note()), (left, Some(&*format!("release {i}\\n"))));
    }
    let error = ledger.charge(epsilon("0.000000001"), "more").unwrap_err();
    assert!(
        matches!(error, Error::Ledger(LedgerError::Budget { left: Epsilon::ZERO, .. })),
        "{error}"
    );
    let again = Ledger::open(&path).unwrap();
    assert_eq!(
        (again.budget(), again.spent(), again.left()),
        (epsilon("1"), epsilon("1"), Epsilon::ZERO)
    );
    assert_eq!((again.about(), again.created()), ("été", ledger.created()));
    assert_eq!(again.entries(), ledger.entries());
    assert_eq!(again.entries()[9].note, "release 10\\n");
    assert!(again.entries().is_sorted_by_key(|entry| entry.time));
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 11);
}

#[test]
fn what_cannot_be_charged_changes_nothing() {
    let (folder, path) = place();
    assert!(Ledger::create(&path, Epsilon::ZERO, "").is_err());
    assert!(Ledger::create(folder.path().join("none").join("x"), epsilon("1"), "").is_err());
    assert!(Ledger::open(&path).is_err() && Ledger::open(folder.path()).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let mut ledger = Ledger::create(&path, epsilon("1"), "").unwrap();
    let before = fs::read(&path).unwrap();
    for (amount, note) in
        [("0", ""), ("1.000000001", ""), ("1000000", ""), ("1", &*"x".repeat(1_001))]
    {
        let error = ledger.charge(epsilon(amount), note).unwrap_err().to_string();
        assert!(error.contains("; "), "it has a remedy: {error}");
    }
    assert_eq!((fs::read(&path).unwrap(), ledger.spent()), (before, Epsilon::ZERO));
}

#[test]
fn a_ledger_that_forgot_charges_is_noticed_by_who_saw_them() {
    let (_folder, path) = place();
    let mut ledger = Ledger::create(&path, epsilon("1"), "").unwrap();
    let early = fs::read(&path).unwrap();
    ledger.charge(epsilon("0.5"), "").unwrap();
    let whole = fs::read(&path).unwrap();
    fs::write(&path, early).unwrap();
    assert!(ledger.charge(epsilon("0.5"), "").unwrap_err().to_string().contains("no longer holds"));
    fs::write(&path, whole).unwrap();
    // Another process charged in between: that is no reason to refuse.
    Ledger::open(&path).unwrap().charge(epsilon("0.125"), "").unwrap();
    assert_eq!(ledger.charge(epsilon("0.25"), "").unwrap().sequence(), Some(3));
    assert_eq!(ledger.spent(), epsilon("0.875"));
}

#[test]
fn threads_wait_for_each_other_and_keep_the_budget() {
    let (_folder, path) = place();
    Ledger::create(&path, epsilon("10"), "").unwrap();
    let made: usize = std::thread::scope(|scope| {
        let charge = |i| charge_often(&path, epsilon("0.07"), 12, &format!("thread {i}"));
        let threads: Vec<_> = (0..16).map(|i| scope.spawn(move || charge(i))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    // 192 were asked for, and 142 fit.
    assert_eq!(made, 142);
    let ledger = Ledger::open(&path).unwrap();
    assert_eq!((ledger.entries().len(), ledger.spent()), (142, epsilon("9.94")));
}

#[test]
fn processes_wait_for_each_other_and_keep_the_budget() {
    let (_folder, path) = place();
    Ledger::create(&path, epsilon("3"), "").unwrap();
    let children: Vec<_> =
        (0..6).map(|_| child_command("", &path, "0.09", 7).spawn().unwrap()).collect();
    let made = charge_often(&path, epsilon("0.09"), 7, "parent");
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    // 49 were asked for, and 33 fit.
    let ledger = Ledger::open(&path).unwrap();
    assert_eq!((ledger.entries().len(), ledger.spent()), (33, epsilon("2.97")));
    assert_eq!(
        ledger.entries().iter().filter(|entry| entry.note.starts_with("parent")).count(),
        made
    );
}

/// Charges in a process that may write no file beyond its first 512 or 1024 bytes, until it fails.
#[cfg(target_os = "linux")]
fn charge_on_a_small_disk(path: &Path, shell: &str) -> ExitStatus {
    Ledger::create(path, epsilon("100"), "").unwrap();
    child_command(&format!("{shell} ulimit -f 1;"), path, "0.5", 100).status().unwrap()
}

/// The disk is full in the middle of a line: the line is taken back.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_a_whole_ledger() {
    let (_folder, path) = place();
    let status = charge_on_a_small_disk(&path, "trap '' XFSZ;");
    assert_eq!(status.code(), Some(101), "the child's test fails, for its charge does");
    let mut ledger = Ledger::open(&path).unwrap();
    let bytes = fs::read(&path).unwrap().len();
    assert!(!ledger.entries().is_empty() && bytes != 512 && bytes != 1_024);
    let made = ledger.entries().len() as u64;
    assert_eq!(
        ledger.charge(epsilon("0.5"), "there is room again").unwrap().sequence(),
        Some(made + 1)
    );
}

/// The process dies in the middle of a line: the line stays torn, and is counted.
#[cfg(target_os = "linux")]
#[test]
fn a_crash_leaves_a_torn_ledger_that_can_be_repaired() {
    use std::os::unix::process::ExitStatusExt;
    let (_folder, path) = place();
    let status = charge_on_a_small_disk(&path, "ulimit -c 0;");
    assert!(status.signal().is_some(), "{status}");
    let torn = fs::read_to_string(&path).unwrap();
    assert!(torn.len() == 512 || torn.len() == 1_024);
    let whole = torn.matches('\n').count() as u64;
    let error = Ledger::open(&path).unwrap_err();
    assert!(
        matches!(error, Error::Ledger(LedgerError::Torn { line }) if line == whole + 1),
        "{error}"
    );
    assert!(error.to_string().contains("repair"), "{error}");
    let mut ledger = Ledger::repair(&path).unwrap();
    assert_eq!(ledger.entries().len() as u64, whole);
    assert_eq!(ledger.spent().billionths(), whole * 500_000_000);
    assert_eq!(ledger.charge(epsilon("0.5"), "").unwrap().sequence(), Some(whole + 1));
    assert_eq!(Ledger::open(&path).unwrap().entries(), ledger.entries());
}

/// For every cut and some damage: refused when opened, never less after a repair, and whole from
/// then on.
#[test]
fn repair_counts_no_less_than_was_charged() {
    let (_folder, path) = place();
    let mut ledger = Ledger::create(&path, epsilon("4"), "").unwrap();
    ledger.charge(epsilon("1"), "one").unwrap();
    let start = fs::read(&path).unwrap().len();
    ledger.charge(epsilon("1.5"), "deux, né").unwrap();
    let bytes = fs::read(&path).unwrap();
    let check = |damaged: &[u8], expected: &str| {
        fs::write(&path, damaged).unwrap();
        assert!(Ledger::open(&path).is_err());
        let mut refused = Ledger::open(&path).unwrap_err().to_string();
        refused.retain(|c| c == ';');
        assert_eq!(refused.len(), 1, "a fact and a remedy");
        let mut repaired = Ledger::repair(&path).unwrap();
        assert_eq!(repaired.spent(), epsilon(expected), "{}", String::from_utf8_lossy(damaged));
        let opened = Ledger::open(&path).unwrap();
        assert_eq!(opened.entries(), repaired.entries());
        assert!(opened.entries().last().unwrap().note.starts_with("repaired"));
        assert_eq!(
            Ledger::repair(&path).unwrap().entries(),
            repaired.entries(),
            "nothing is left to repair"
        );
        if repaired.left() > Epsilon::ZERO {
            repaired.charge(epsilon("1.5"), "the rest").unwrap();
        }
    };
    for cut in start + 1..bytes.len() {
        // The amount can be relied on once there is a tab after it.
        check(&bytes[..cut], if cut > start + "2\t1.5".len() { "2.5" } else { "4" });
    }
    for garbage in ["", "\n", "\0\0\0\0", "9\t", "\t\t\t\t\t\t", "\u{1f}\n\n", &"\0".repeat(10_000)]
    {
        check(&[&bytes[..], b"3\t", garbage.as_bytes()].concat(), "4");
    }
    let mut flipped = bytes.clone();
    flipped[start + 2] ^= 1;
    check(&flipped, "4");

    // Nothing is left, so a torn line can only be dropped.
    fs::write(&path, &bytes).unwrap();
    Ledger::open(&path).unwrap().charge(epsilon("1.5"), "").unwrap();
    let spent = fs::read(&path).unwrap();
    fs::write(&path, [&spent[..], b"4\t"].concat()).unwrap();
    assert!(Ledger::open(&path).is_err());
    assert_eq!(Ledger::repair(&path).unwrap().left(), Epsilon::ZERO);
    assert_eq!(fs::read(&path).unwrap(), spent);

    // Without its first line, a ledger has no budget.
    fs::write(&path, &spent[1..]).unwrap();
    assert!(Ledger::repair(&path).is_err());
    assert_eq!(fs::read(&path).unwrap(), &spent[1..]);
}

#[test]
fn a_huge_file_is_not_read() {
    let (_folder, path) = place();
    Ledger::create(&path, epsilon("1"), "").unwrap();
    fs::File::options().append(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    assert!(Ledger::open(&path).unwrap_err().to_string().contains("67108864 bytes"));
}

#[cfg(unix)]
#[test]
fn charges_through_a_link_and_after_a_move_reach_the_same_ledger() {
    let (folder, path) = place();
    let mut ledger = Ledger::create(&path, epsilon("1"), "").unwrap();
    let (link, moved) = (folder.path().join("link"), folder.path().join("moved"));
    std::os::unix::fs::symlink(&path, &link).unwrap();
    Ledger::open(&link).unwrap().charge(epsilon("0.25"), "").unwrap();
    assert_eq!(ledger.charge(epsilon("0.25"), "").unwrap().left(), Some(epsilon("0.5")));
    assert!(Ledger::create(&link, epsilon("1"), "").is_err());
    fs::rename(&path, &moved).unwrap();
    assert!(ledger.charge(epsilon("0.25"), "").is_err(), "it is not there any more");
    assert_eq!(Ledger::open(&moved).unwrap().spent(), epsilon("0.5"));
}

/// A ledger says what is published about whom: only its owner reads it. Nothing else is left
/// behind.
#[cfg(unix)]
#[test]
fn a_new_ledger_is_its_owners() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.ledger");
    Ledger::create(&path, "1".parse().unwrap(), "").unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(Ledger::create(&path, "2".parse().unwrap(), "").is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
