//! A small web server for this computer only: fixed files, read by GET.
//!
//! It listens on 127.0.0.1 and answers only requests that name it so. A page from elsewhere whose
//! name was made to point here (DNS rebinding) is refused by its `Host`.

use crate::threads;
use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A request is one line and some headers; browsers send less than 2 KiB.
const MAX_REQUEST: usize = 8192;
/// A browser opens six connections, and may keep some open in advance.
const MAX_CONNECTIONS: usize = 32;
/// A request must be complete, and a reply taken, within this time.
const PATIENCE: Duration = Duration::from_secs(10);

/// A file that is served.
pub(crate) struct File {
    /// Its path, from the slash on.
    pub(crate) path: String,
    pub(crate) bytes: Cow<'static, [u8]>,
    /// What the browser may do for it: a Content-Security-Policy.
    pub(crate) policy: &'static str,
}

/// The files, and the names under which the server answers.
pub(crate) struct Site {
    files: Vec<File>,
    hosts: [String; 2],
}

impl Site {
    pub(crate) fn new(files: Vec<File>, port: u16) -> Site {
        Site { files, hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")] }
    }

    /// Answers until the process ends.
    pub(crate) fn serve(self, listener: &TcpListener) -> ! {
        let site = Arc::new(self);
        let open = Arc::new(AtomicUsize::new(0));
        loop {
            let Ok((stream, _)) = listener.accept() else {
                // No file descriptors left, for example: do not spin until there are some.
                std::thread::sleep(Duration::from_millis(50));
                continue;
            };
            if open.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
                open.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let (site, counted) = (Arc::clone(&site), Arc::clone(&open));
            let answered = threads::spawn(move || {
                // A client that went away is none of our business.
                let _ = site.converse(stream);
                counted.fetch_sub(1, Ordering::Relaxed);
            });
            if answered.is_err() {
                open.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    fn converse(&self, mut stream: TcpStream) -> io::Result<()> {
        let head = read_head(&mut stream)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let reply = self.reply(&head);
        stream.write_all(reply.head.as_bytes())?;
        stream.write_all(reply.body)?;
        stream.shutdown(Shutdown::Write)
    }

    /// The answer to a request, which may be any bytes.
    fn reply(&self, head: &[u8]) -> Reply<'_> {
        let Some(request) = Request::parse(head) else {
            return Reply::refusal("400 Bad Request", b"this is no request for a file\n");
        };
        if !self.hosts.iter().any(|host| host == request.host) {
            return Reply::refusal("403 Forbidden", b"this server answers to 127.0.0.1 only\n");
        }
        if !matches!(request.method, "GET" | "HEAD") {
            return Reply::refusal("405 Method Not Allowed", b"this server is only read from\n");
        }
        let wanted = request.path;
        let Some(file) = self.files.iter().find(|file| file.path == wanted) else {
            return Reply::refusal("404 Not Found", b"there is no such file\n");
        };
        let more = format!("Content-Security-Policy: {}\r\n", file.policy);
        let mut reply = Reply::new("200 OK", mime(&file.path), &more, &file.bytes);
        if request.method == "HEAD" {
            reply.body = b"";
        }
        reply
    }
}

struct Reply<'a> {
    head: String,
    body: &'a [u8],
}

impl<'a> Reply<'a> {
    fn new(status: &str, mime: &str, more: &str, body: &'a [u8]) -> Reply<'a> {
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {mime}\r\nContent-Length: {}\r\n\
             Cache-Control: no-cache\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\n\
             {more}\r\n",
            body.len()
        );
        Reply { head, body }
    }

    fn refusal(status: &str, why: &'a [u8]) -> Reply<'a> {
        Reply::new(status, "text/plain; charset=utf-8", "Allow: GET, HEAD\r\n", why)
    }
}

/// What matters of a request.
struct Request<'a> {
    method: &'a str,
    /// The path without the question that may follow it.
    path: &'a str,
    host: &'a str,
}

impl<'a> Request<'a> {
    fn parse(head: &'a [u8]) -> Option<Request<'a>> {
        let mut lines = std::str::from_utf8(head).ok()?.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if words.next().is_some() || !version.starts_with("HTTP/1.") || !target.starts_with('/') {
            return None;
        }
        let mut hosts = lines.filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("host").then(|| value.trim())
        });
        let host = hosts.next()?;
        // Two hosts: a proxy may have checked the other one.
        if hosts.next().is_some() {
            return None;
        }
        Some(Request { method, path: target.split('?').next()?, host })
    }
}

/// Reads up to the empty line that ends the headers.
fn read_head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let deadline = Instant::now() + PATIENCE;
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || head.len() > MAX_REQUEST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        stream.set_read_timeout(Some(left))?;
        let read = stream.read(&mut piece)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        head.extend_from_slice(&piece[..read]);
        if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            head.truncate(end);
            return Ok(head);
        }
    }
}

/// The type of a file, by its name. A browser runs a module or WebAssembly only under the right
/// one.
fn mime(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, end)| end) {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("wasm") => "application/wasm",
        // The root, and the root of the report.
        _ => "text/html; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        let file = |path: &str, bytes: &'static [u8]| File {
            path: path.to_owned(),
            bytes: Cow::Borrowed(bytes),
            policy: "default-src 'none'",
        };
        Site::new(vec![file("/", b"page"), file("/pkg/a.wasm", b"\0asm")], 7373)
    }

    fn answer(request: &str) -> (String, Vec<u8>) {
        let site = site();
        let reply = site.reply(request.as_bytes());
        (reply.head, reply.body.to_vec())
    }

    #[test]
    fn a_file_is_served_with_its_type_and_policy() {
        let (head, body) = answer("GET /pkg/a.wasm HTTP/1.1\r\nHost: 127.0.0.1:7373");
        assert!(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: application/wasm\r\n"));
        assert!(head.contains("Content-Length: 4\r\n"));
        assert!(head.contains("Content-Security-Policy: default-src 'none'\r\n"));
        assert!(head.ends_with("\r\n\r\n") && !head[..head.len() - 4].contains("\r\n\r\n"));
        assert_eq!(body, b"\0asm");
        let (head, body) = answer("GET /?a=b HTTP/1.1\r\nhOsT:localhost:7373\r\nAccept: */*");
        assert!(head.contains("text/html") && body == b"page");
        let (head, body) = answer("HEAD / HTTP/1.1\r\nHost: localhost:7373");
        assert!(head.contains("Content-Length: 4\r\n") && body.is_empty());
    }

    #[test]
    fn what_is_no_such_request_is_refused() {
        let mine = "\r\nHost: 127.0.0.1:7373";
        for (request, status) in [
            (format!("GET /../Cargo.toml HTTP/1.1{mine}"), "404"),
            (format!("GET //pkg/a.wasm HTTP/1.1{mine}"), "404"),
            (format!("GET /pkg/ HTTP/1.1{mine}"), "404"),
            (format!("GET /pkg/%61.wasm HTTP/1.1{mine}"), "404"),
            (format!("POST / HTTP/1.1{mine}"), "405"),
            (format!("GET http://127.0.0.1:7373/ HTTP/1.1{mine}"), "400"),
            (format!("GET / HTTP/2{mine}"), "400"),
            (format!("GET / x HTTP/1.1{mine}"), "400"),
            (format!("GET / HTTP/1.1{mine}{mine}"), "400"),
            ("GET / HTTP/1.1".to_owned(), "400"),
            ("GET / HTTP/1.1\r\nHost: evil.example:7373".to_owned(), "403"),
            ("GET / HTTP/1.1\r\nHost: 127.0.0.1".to_owned(), "403"),
            ("GET / HTTP/1.1\r\nHost: 127.0.0.1:7374".to_owned(), "403"),
            ("GET / HTTP/1.1\r\nHost: 127.0.0.1:7373.evil.example".to_owned(), "403"),
            (String::new(), "400"),
            ("\0\u{1f600}".to_owned(), "400"),
        ] {
            let (head, _) = answer(&request);
            assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{request:?}: {head}");
        }
        assert!(site().reply(&[0xff, 0xfe]).head.starts_with("HTTP/1.1 400 "));
    }

    #[test]
    fn many_connections_are_answered() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let file = File { path: "/".to_owned(), bytes: vec![7; 1 << 20].into(), policy: "" };
        std::thread::spawn(move || Site::new(vec![file], port).serve(&listener));
        // Some that say nothing do not keep the others waiting.
        let idle: Vec<TcpStream> =
            (0..8).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
        for _ in 0..2 * MAX_CONNECTIONS {
            let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
            write!(client, "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n").unwrap();
            let mut answer = Vec::new();
            client.read_to_end(&mut answer).unwrap();
            assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"));
            assert!(answer.ends_with(&vec![7; 1 << 20]));
        }
        drop(idle);
    }

    #[test]
    fn a_request_without_end_is_cut_off() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let sent = std::thread::spawn(move || {
            let _ = client.write_all(&[b'a'; 4 * MAX_REQUEST]);
            client
        });
        assert_eq!(read_head(&mut server).unwrap_err().kind(), io::ErrorKind::InvalidData);
        drop(server);
        sent.join().unwrap();
    }
}
