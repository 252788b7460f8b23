//! A folder to run `tamis` in.

#![allow(clippy::unwrap_used, dead_code, missing_docs, unreachable_pub)]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub struct Shell {
    pub folder: TempDir,
    /// The environment's TAMIS_KEY_FILE.
    pub key_file: Option<&'static str>,
}

pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}", self.err);
        self.out
    }

    /// An error: exit code 2, one sentence on standard error that has these words, nothing on
    /// standard output.
    #[track_caller]
    pub fn refused(self, words: &[&str]) -> Self {
        assert_eq!(self.code, 2, "{}{}", self.out, self.err);
        assert_eq!(self.out, "");
        for word in words {
            assert!(self.err.contains(word), "no {word:?} in: {}", self.err);
        }
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }

    #[track_caller]
    pub fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.ok()).unwrap()
    }
}

impl Shell {
    pub fn new() -> Shell {
        Shell { folder: tempfile::tempdir().unwrap(), key_file: None }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.path(name), content).unwrap();
        self
    }

    /// Runs `tamis` with these words in the folder, `input` on its standard input.
    pub fn with_input(&self, line: &str, input: impl AsRef<[u8]>) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tamis"));
        match self.key_file {
            Some(path) => command.env("TAMIS_KEY_FILE", path),
            None => command.env_remove("TAMIS_KEY_FILE"),
        };
        let mut child = command
            .args(line.split(' ').filter(|word| !word.is_empty()))
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.as_ref().to_vec();
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Ran {
            code: status.code().unwrap(),
            out: String::from_utf8_lossy(&stdout).into_owned(),
            err: String::from_utf8_lossy(&stderr).into_owned(),
        }
    }

    pub fn run(&self, line: &str) -> Ran {
        self.with_input(line, "")
    }

    /// Runs `tamis` with nobody to read what it prints: its exit code and what it complained of.
    #[cfg(unix)]
    pub fn unheard(&self, line: &str) -> (Option<i32>, String) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tamis"))
            .args(line.split(' '))
            .current_dir(self.folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    pub fn entries(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

pub fn lines(range: std::ops::Range<u32>) -> String {
    range.map(|i| format!("key {i}\n")).collect()
}
