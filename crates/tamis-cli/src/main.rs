//! The binary `tamis`.

fn main() -> std::process::ExitCode {
    tamis_cli::run()
}
