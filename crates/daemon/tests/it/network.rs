//! Nothing leaves the machine.

use std::net::TcpListener;

use crate::sandbox::{Sandbox, finish};

/// Every address that the environment can name leads to one listener, and nobody calls. The rules of the house add that only
/// the downloader names a network library, and it is reached only by a source that begins with `hf:`.
#[test]
fn no_command_calls_anyone() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let sandbox = Sandbox::with(&[("a.md", "# Alpha\n\n灯塔在每年春天重新粉刷。\n"), ("b.md", "Beta.\n")]);
    let data = sandbox.outside("set");
    std::fs::create_dir_all(&data).unwrap();
    let out = sandbox.outside("out");
    let (data, out) = (data.to_str().unwrap(), out.to_str().unwrap());
    for (file, text) in [
        (
            "corpus.jsonl",
            "{\"id\": \"1\", \"path\": \"1.md\", \"title\": \"\", \"text\": \"lamp\"}\n",
        ),
        ("queries.jsonl", "{\"id\": \"q\", \"text\": \"lamp\"}\n"),
        ("qrels.tsv", "q\t0\t1\t1\n"),
    ] {
        std::fs::write(sandbox.outside("set").join(file), text).unwrap();
    }
    for args in [
        &["init"][..],
        &["index", "--full"],
        &["activate", "灯塔什么时候粉刷？", "--explain"],
        &["runs", "list"],
        &["runs", "show"],
        &["runs", "replay"],
        &["config", "show"],
        &["lab", "run", "--data", data, "--arms", "dense,v2", "--out", out],
        &["recorder", "verify"],
        &["recorder", "rebuild"],
        &["archive", "list"],
        &["completions", "bash"],
    ] {
        let mut command = sandbox.command(args);
        for name in [
            "HF_ENDPOINT",
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "ALL_PROXY",
            "http_proxy",
            "https_proxy",
            "all_proxy",
        ] {
            command.env(name, &address);
        }
        finish(command.env("HF_TOKEN", "hf_secret")).expect(0);
    }
    let called = listener.accept().map(|(_, who)| who);
    assert_eq!(called.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}
