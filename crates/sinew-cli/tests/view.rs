//! `sinew view`, as a viewer and a person at the terminal meet it.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// Starts it on a free port; returns its address.
fn start(
    directory: &tempfile::TempDir,
    options: &[&str],
) -> (Child, BufReader<std::process::ChildStdout>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(["view", "--port", "0", "--dir"]).arg(directory.path()).args(options);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).env_remove("SINEW_VIEW_TOKEN");
    let mut view = command.spawn().unwrap();
    let mut output = BufReader::new(view.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let address = line.split("ws://").nth(1).unwrap().split([' ', '/']).next().unwrap().to_owned();
    (view, output, address)
}

/// Asks for a WebSocket; returns the status line of the answer, and the connection.
fn knock(address: &str, query: &str) -> (String, TcpStream) {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "GET /{query} HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Sec-WebSocket-Protocol: foxglove.websocket.v1\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line).unwrap();
    (line, stream)
}

fn stop(mut view: Child, mut output: BufReader<std::process::ChildStdout>) -> String {
    let process = rustix::process::Pid::from_child(&view);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert!(view.wait().unwrap().success());
    rest
}

#[test]
fn viewers_come_in_until_ctrl_c() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let (view, output, address) = start(&directory, &["--allow", "publish,services"]);
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let (status, stream) = knock(&address, "");
    assert!(status.contains(" 101 "), "{status}");
    assert_eq!(stop(view, output), "0 messages sent, 0 lost by slow viewers\n");
    drop(stream);
}

#[test]
fn a_token_is_asked_for() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let (view, output, address) = start(&directory, &["--token", "abc"]);
    assert!(knock(&address, "").0.contains(" 401 "));
    assert!(knock(&address, "?token=abc").0.contains(" 101 "));
    stop(view, output);
}

#[test]
fn images_are_compressed_by_a_width_and_a_quality() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let (view, output, address) = start(&directory, &["--image-width", "640", "--image-quality", "60"]);
    assert!(knock(&address, "").0.contains(" 101 "));
    stop(view, output);
    for wrong in [&["--image-width", "0"][..], &["--image-quality", "60"], &["--image-quality", "101"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_sinew")).arg("view").args(wrong).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn a_port_in_use_is_an_error() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = Command::new(env!("CARGO_BIN_EXE_sinew")).args(["view", "--port", &port]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && error.contains(&format!("can't listen on 127.0.0.1:{port}")),
        "{error}"
    );
}

#[test]
fn a_bag_is_played_for_viewers() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let bag = concat!(env!("CARGO_MANIFEST_DIR"), "/../sinew-bag/tests/data/rewriter_a");
    let (view, output, address) = start(&directory, &["--start-paused", bag]);
    assert!(knock(&address, "").0.contains(" 101 "));
    let rest = stop(view, output);
    assert!(rest.contains(" messages sent, ") && !rest.contains("per second"), "no progress: {rest}");
    // Viewers of a bag control it, whatever else is allowed.
    for (options, warning) in [
        (&[][..], "can look: --token"),
        (&["--allow", "publish"], "can look, and use what is allowed: --token"),
        (&["--start-paused", bag], "can look, and control the playback: --token"),
    ] {
        let options = [&["--address", "0.0.0.0"], options].concat();
        let (mut view, output, _) = start(&directory, &options);
        let mut errors = String::new();
        let pipe = view.stderr.take().unwrap();
        stop(view, output);
        BufReader::new(pipe).read_to_string(&mut errors).unwrap();
        assert!(errors.contains(warning), "{errors}");
    }
    // A player's options need a bag.
    let output = Command::new(env!("CARGO_BIN_EXE_sinew")).args(["view", "--loop"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
