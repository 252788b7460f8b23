//! `tamis explore`: the page, served to this computer.

#![cfg(feature = "explore")]
#![allow(clippy::unwrap_used)]

mod shell;

use shell::Shell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

struct Server {
    child: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(arguments: &[&str]) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tamis"))
            .args(["explore", "--port", "0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.split("http://127.0.0.1:").nth(1).unwrap().split('/').next().unwrap();
        let port = port.parse().unwrap();
        Server { child, port }
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", self.port).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

#[test]
fn the_page_is_served_or_the_remedy_is_named() {
    let shell = Shell::new();
    if !tamis_web::has_engine() {
        shell.run("explore --no-open").refused(&["WebAssembly", "scripts/web"]);
        return;
    }
    shell.file("index.html", "<p>recomputed by tamis</p>");
    let server = Server::start(&["--report", shell.folder.path().to_str().unwrap()]);
    let page = server.get("/");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("main.js"));
    assert!(page.contains("Content-Security-Policy: default-src 'none';"));
    assert!(server.get("/site.json").ends_with("{\"report\":\"report/\"}\n"));
    assert!(server.get("/report/").ends_with("<p>recomputed by tamis</p>"));
    assert!(server.get("/lib.rs").starts_with("HTTP/1.1 404 "));
    for (path, _) in tamis_web::FILES.iter().filter(|(path, _)| *path != "index.html") {
        assert!(server.get(&format!("/{path}")).starts_with("HTTP/1.1 200 OK\r\n"), "{path}");
    }
    let taken = format!("explore --no-open --port {}", server.port);
    shell.run(&taken).refused(&["cannot listen on port", "leave --port out"]);
    shell.run("explore --no-open --report none").refused(&["none", "tamis reproduce"]);
}

#[test]
fn all_files_of_the_page_are_in_the_program() {
    let names: Vec<&str> = tamis_web::FILES.iter().map(|(path, _)| *path).collect();
    for name in ["index.html", "style.css", "main.js", "look-worker.js", "icon.svg"] {
        assert!(names.contains(&name), "{name}");
    }
    assert!(!names.iter().any(|name| name.ends_with(".rs") || name.contains("test")));
}
