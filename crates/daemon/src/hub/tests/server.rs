//! A small web server for one test.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A request as it came.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// With the query.
    pub(super) path: String,
    headers: BTreeMap<String, String>,
}

impl Asked {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// What is sent back, and how.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) way: Way,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// With its length.
    Whole,
    /// With its length, and the connection ends after so many bytes.
    CutAfter(usize),
    /// With its length, and nothing comes after so many bytes while the connection stays.
    HangAfter(usize),
    /// With its length, and after so many bytes one at a time.
    DripAfter(usize),
    /// In chunks, without a length.
    Chunked,
    /// Without a length; the end of the connection is the end.
    UntilClosed,
    /// The body alone, with no status and no header.
    Raw,
}

impl Reply {
    pub(super) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
            way: Way::Whole,
        }
    }

    /// Adds a header, or replaces it.
    pub(super) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self = self.without(name);
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub(super) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    pub(super) fn sent(mut self, way: Way) -> Self {
        self.way = way;
        self
    }

    pub(super) fn redirect(location: impl Into<String>) -> Self {
        Self::new(302, "moved").with("location", location)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} Test\r\nconnection: close\r\n", self.status);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        let chunked = || {
            let mut chunks = Vec::new();
            for chunk in self.body.chunks(1000) {
                chunks.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                chunks.extend_from_slice(chunk);
                chunks.extend_from_slice(b"\r\n");
            }
            chunks.extend_from_slice(b"0\r\n\r\n");
            chunks
        };
        let (head, body) = match self.way {
            Way::Raw => (String::new(), self.body.clone()),
            Way::UntilClosed => (head + "\r\n", self.body.clone()),
            Way::Chunked => (head + "transfer-encoding: chunked\r\n\r\n", chunked()),
            Way::Whole | Way::DripAfter(_) => (self.with_length(head), self.body.clone()),
            Way::CutAfter(n) | Way::HangAfter(n) => {
                (self.with_length(head), self.body[..n.min(self.body.len())].to_vec())
            }
        };
        [head.as_bytes(), &body].concat()
    }

    fn with_length(&self, head: String) -> String {
        let told = self.headers.iter().any(|(name, _)| name == "content-length");
        if told {
            return head + "\r\n";
        }
        format!("{head}content-length: {}\r\n\r\n", self.body.len())
    }
}

/// A server on a loopback port of its own; it ends with its owner.
pub(super) struct Server {
    pub(super) port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    stop: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server. `answer` is given the request and how many there were of the same path before.
    pub(super) fn start(answer: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::<Asked>::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let (log, end, answer) = (Arc::clone(&asked), Arc::clone(&stop), Arc::new(answer));
        let listener = std::thread::spawn(move || {
            for stream in socket.incoming() {
                if end.load(Ordering::SeqCst) {
                    break;
                }
                let (log, end, answer) = (Arc::clone(&log), Arc::clone(&end), Arc::clone(&answer));
                std::thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    let Some(request) = read(&stream) else { return };
                    let nth = {
                        let mut log = log.lock().unwrap();
                        let nth = log.iter().filter(|before| before.path == request.path).count();
                        log.push(request.clone());
                        nth
                    };
                    let reply = answer(&request, nth);
                    let bytes = reply.bytes();
                    let at_once = match reply.way {
                        Way::DripAfter(n) => (bytes.len() - reply.body.len() + n).min(bytes.len()),
                        _ => bytes.len(),
                    };
                    let _ = stream.set_nodelay(true);
                    // A client that has heard enough hangs up.
                    let _ = stream.write_all(&bytes[..at_once]);
                    for byte in &bytes[at_once..] {
                        if end.load(Ordering::SeqCst) || stream.write_all(&[*byte]).is_err() {
                            break;
                        }
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    while matches!(reply.way, Way::HangAfter(_)) && !end.load(Ordering::SeqCst) {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                });
            }
        });
        Self {
            port,
            asked,
            stop,
            listener: Some(listener),
        }
    }

    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What was asked so far, in order.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the listener.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next()?.ok()?;
    let path = first.strip_prefix("GET ")?.split(' ').next()?.to_owned();
    let mut headers = BTreeMap::new();
    for line in lines {
        let line = line.ok()?;
        let Some((name, value)) = line.split_once(": ") else {
            break;
        };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    Some(Asked { path, headers })
}
