//! `tamis explore`: the page where people choose, served from the program itself.

use crate::output::{print, warn};
use crate::serve::{File, Site};
use anyhow::{Context, bail};
use clap::Args;
use std::borrow::Cow;
use std::io::{self, IsTerminal, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Open a page in the browser: choose a filter, look into a file, see each promise at work
#[derive(Args)]
#[command(after_help = "\
Examples:
  tamis explore
  tamis explore --no-open --port 8000         then open http://127.0.0.1:8000/
  tamis reproduce --quick --report report && tamis explore --report report

The page is served to this computer only, and works without a network. Files that you open in it \
are read by the browser and go nowhere. Ctrl-C ends the command.")]
pub(crate) struct Explore {
    /// The port to listen on; 0 is any free one [default: 7373, or a free one if that is taken]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Print the address only, and open no browser
    #[arg(long)]
    no_open: bool,
    /// Link this report of the documents, which `tamis reproduce --report DIR` has written
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
}

const PORT: u16 = 7373;

/// The page runs its own modules and WebAssembly, and loads nothing from elsewhere. index.html says
/// the same, for other servers.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; \
                           style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                           worker-src 'self'; base-uri 'none'; form-action 'none'; \
                           frame-ancestors 'none'";
/// The report holds its own styles, and runs nothing.
const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                             base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// The largest report that is taken into memory. A whole one has a few megabytes.
const MAX_REPORT: u64 = 64 << 20;

impl Explore {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        if !tamis_web::has_engine() {
            bail!(
                "this tamis was built without the page's WebAssembly; in a copy of the repository \
                 run scripts/web, then build again: cargo install --locked --path crates/tamis-cli"
            );
        }
        let files = self.files()?;
        let listener = self.listen()?;
        let port = listener.local_addr().context("cannot tell the port")?.port();
        let address = format!("http://127.0.0.1:{port}/");
        print(&format!("The explorer is at {address} (Ctrl-C ends it)"))?;
        if !self.no_open && io::stdout().is_terminal() && open(&address).is_err() {
            warn("tamis: notice: no browser could be started; open the address yourself");
        }
        Site::new(files, port).serve(&listener)
    }

    fn listen(&self) -> anyhow::Result<TcpListener> {
        let bind = |port| TcpListener::bind(("127.0.0.1", port));
        match self.port {
            Some(port) => bind(port).with_context(|| {
                format!("cannot listen on port {port}; leave --port out, or take another")
            }),
            None => bind(PORT).or_else(|_| bind(0)).context("cannot listen on 127.0.0.1"),
        }
    }

    fn files(&self) -> anyhow::Result<Vec<File>> {
        let mut files: Vec<File> = tamis_web::FILES
            .iter()
            .map(|(path, bytes)| File {
                path: if *path == "index.html" { "/".to_owned() } else { format!("/{path}") },
                bytes: Cow::Borrowed(*bytes),
                policy: PAGE_POLICY,
            })
            .collect();
        // Where the page looks for a link to the report; web/site.json has none.
        let report = self.report.as_deref().map(read_report).transpose()?;
        let link = if report.is_some() { "\"report/\"" } else { "null" };
        files.push(File {
            path: "/site.json".to_owned(),
            bytes: Cow::Owned(format!("{{\"report\":{link}}}\n").into_bytes()),
            policy: PAGE_POLICY,
        });
        files.extend(report.map(|bytes| File {
            path: "/report/".to_owned(),
            bytes: Cow::Owned(bytes),
            policy: REPORT_POLICY,
        }));
        Ok(files)
    }
}

fn read_report(folder: &Path) -> anyhow::Result<Vec<u8>> {
    let path = folder.join("index.html");
    let file = std::fs::File::open(&path).with_context(|| {
        format!(
            "cannot read {}; write a report there with: tamis reproduce --quick --report {}",
            path.display(),
            folder.display()
        )
    })?;
    let mut bytes = Vec::new();
    file.take(MAX_REPORT + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {}", path.display()))?;
    if bytes.len() as u64 > MAX_REPORT {
        bail!("{} has more than {MAX_REPORT} bytes, so it is no report of tamis", path.display());
    }
    Ok(bytes)
}

/// Starts the browser, as the system has it.
fn open(address: &str) -> io::Result<()> {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("cmd");
        command.args(["/c", "start", ""]);
        command
    } else {
        Command::new("xdg-open")
    };
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop)
}
