//! The files that a command reads: as they were typed, with patterns expanded.

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// The files that a command reads. A pattern such as `logs/*.gz` stands for all files that it
/// fits, in the order of their names: quoted, or in a shell that leaves patterns alone.
#[derive(Debug, Clone)]
pub struct Files(Vec<PathBuf>);

impl Deref for Files {
    type Target = [PathBuf];

    fn deref(&self) -> &[PathBuf] {
        &self.0
    }
}

impl<'a> IntoIterator for &'a Files {
    type Item = &'a PathBuf;
    type IntoIter = std::slice::Iter<'a, PathBuf>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

const ID: &str = "files";

impl Args for Files {
    fn augment_args(command: Command) -> Command {
        command.arg(
            Arg::new(ID)
                .value_name("INPUT")
                .action(ArgAction::Append)
                .num_args(0..)
                .value_parser(value_parser!(PathBuf))
                .help(
                    "Files, one key or record a line; `-` or nothing is standard input; quoted \
                     patterns ('logs/*.gz') are expanded",
                ),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Files {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Files, clap::Error> {
        let mut files = Vec::new();
        for path in matches.get_many::<PathBuf>(ID).into_iter().flatten() {
            match expanded(path) {
                Ok(found) => files.extend(found),
                Err(why) => return Err(clap::Error::raw(ErrorKind::ValueValidation, why + "\n")),
            }
        }
        Ok(Files(files))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Files::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The files that a path stands for: itself, or what it fits as a pattern.
fn expanded(path: &Path) -> Result<Vec<PathBuf>, String> {
    if names_standard_input(path) {
        return Ok(vec![PathBuf::from("-")]);
    }
    let text = path.to_str().filter(|text| text.contains(['*', '?', '[']));
    // A file may have such a name.
    let Some(pattern) = text.filter(|_| !path.exists()) else { return Ok(vec![path.to_owned()]) };
    let found = match glob::glob(pattern) {
        Ok(found) => found.collect::<Result<Vec<PathBuf>, _>>(),
        Err(error) => return Err(format!("the pattern {pattern:?}: {error}")),
    };
    match found {
        Ok(found) if found.is_empty() => Err(format!("no file fits the pattern {pattern:?}")),
        Ok(found) => Ok(found),
        Err(error) => Err(format!("the pattern {pattern:?}: {error}")),
    }
}

/// Whether a path is a name that systems have for standard input.
pub(crate) fn names_standard_input(path: &Path) -> bool {
    ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].iter().any(|name| path == Path::new(name))
}

/// A path to read from. The names that systems have for standard input are read as `-`.
pub(crate) fn input_path() -> impl clap::builder::TypedValueParser<Value = PathBuf> {
    use clap::builder::TypedValueParser;
    clap::builder::PathBufValueParser::new()
        .map(|path| if names_standard_input(&path) { PathBuf::from("-") } else { path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_files_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["b.gz", "a.gz", "c.txt", "[x].gz"] {
            std::fs::write(at(name), "").unwrap();
        }
        assert_eq!(expanded(&at("*.gz")), Ok(vec![at("[x].gz"), at("a.gz"), at("b.gz")]));
        assert_eq!(expanded(&at("[ab].gz")), Ok(vec![at("a.gz"), at("b.gz")]));
        // A file that is there is meant itself; one that is not may come later, or is a mistake.
        assert_eq!(expanded(&at("[x].gz")), Ok(vec![at("[x].gz")]));
        assert_eq!(expanded(&at("none.gz")), Ok(vec![at("none.gz")]));
        assert!(expanded(&at("*.zip")).unwrap_err().contains("no file fits"));
        assert!(expanded(&at("a***b")).unwrap_err().contains("a***b"));
        assert_eq!(expanded(Path::new("/dev/stdin")), Ok(vec![PathBuf::from("-")]));
    }
}
