//! One request to the hub: redirects, the token, and what a status means.
//!
//! Redirects are followed here and not by the HTTP library: each hop is checked, and the token never leaves the endpoint.

use std::io::Read;
use std::time::{Duration, Instant};

use ureq::http::{HeaderMap, Uri, header};
use ureq::{Agent, Body};

use super::endpoint::{Origin, follow};
use super::{Endpoint, HubError, HubOptions, HubSpec, Token};

/// Hops of one request at most. The hub needs two.
const MAX_HOPS: usize = 8;
/// What the hub says of itself in an error, at most.
const MAX_MESSAGE: usize = 200;

/// Asks the hub.
pub(super) struct Client<'a> {
    agent: Agent,
    endpoint: &'a Endpoint,
    token: Option<&'a Token>,
    silence: Duration,
    slowness: Duration,
}

/// An answer of status 200, 206 or 416.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) host: String,
    body: Body,
    silence: Duration,
    pace: Pace,
}

/// Bytes that a connection has to bring within a window of time, for a start: about 1 kB each second of a minute.
const LEAST: u64 = 60_000;

/// How fast the bytes of an answer come. A server that sends a byte now and then is never silent, and never done.
struct Pace {
    window: Duration,
    since: Instant,
    brought: u64,
}

impl Pace {
    #[expect(
        clippy::disallowed_methods,
        reason = "how fast a connection is, is a matter of real time"
    )]
    fn start(window: Duration) -> Self {
        Self {
            window,
            since: Instant::now(),
            brought: 0,
        }
    }

    /// Counts bytes.
    ///
    /// # Errors
    /// When too few have come within a window.
    fn count(&mut self, bytes: usize) -> std::io::Result<()> {
        self.brought += bytes as u64;
        let elapsed = self.since.elapsed();
        if elapsed < self.window {
            return Ok(());
        }
        if self.brought < LEAST {
            let why = format!("{} bytes came within {elapsed:.0?}", self.brought);
            return Err(std::io::Error::new(std::io::ErrorKind::TimedOut, why));
        }
        *self = Self::start(self.window);
        Ok(())
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Asking again changes nothing.
    Fatal(HubError),
    /// It may pass, after `wait` where the server says so.
    Passing { error: HubError, wait: Option<Duration> },
}

impl From<HubError> for Trouble {
    fn from(error: HubError) -> Self {
        Self::Fatal(error)
    }
}

impl<'a> Client<'a> {
    pub(super) fn new(options: &'a HubOptions<'_>) -> Result<Self, HubError> {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(0)
            .user_agent(concat!("casebook/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(options.connect))
            .timeout_resolve(Some(options.connect))
            .timeout_send_request(Some(options.silence))
            .timeout_recv_response(Some(options.silence))
            .timeout_per_read(Some(options.silence))
            .timeout_per_write(Some(options.silence));
        if options.endpoint.origin().is_this_machine() {
            config = config.proxy(None);
        }
        Ok(Self {
            agent: config.build().new_agent(),
            endpoint: &options.endpoint,
            token: options.token.as_ref(),
            silence: options.silence,
            slowness: options.slowness,
        })
    }

    pub(super) fn host(&self) -> &str {
        &self.endpoint.origin().host
    }

    /// Asks the endpoint for a path that begins with `/`, and follows where it leads.
    pub(super) fn get(&self, spec: &HubSpec, path: &str, headers: &[(&str, &str)]) -> Result<Answer, Trouble> {
        let mut uri: Uri = self.endpoint.at(path).parse().map_err(|_| HubError::Endpoint {
            text: self.endpoint.at(""),
            why: "no address can be made of it",
        })?;
        let mut token = self.token;
        for _ in 0..MAX_HOPS {
            let origin = Origin::of(&uri).ok_or_else(|| redirect(self.host(), "it is no web address"))?;
            let at_endpoint = origin == *self.endpoint.origin();
            if !at_endpoint {
                // Once away it stays away: a way back would be chosen by the stranger.
                token = None;
            }
            let answer = self.once(&uri, &origin, token, headers)?;
            let Some(location) = redirect_of(&answer) else {
                return accept(answer, spec, at_endpoint, self.token.is_some(), self.endpoint);
            };
            uri = follow(&uri, &location).ok_or_else(|| redirect(&origin.host, "the address is malformed"))?;
            let next = Origin::of(&uri).ok_or_else(|| redirect(&origin.host, "it is no web address"))?;
            let within_this_machine = self.endpoint.origin().is_this_machine() && next.is_this_machine();
            if !(next.secure || within_this_machine) {
                return Err(redirect(&origin.host, "it leads from https to http").into());
            }
        }
        Err(redirect(self.host(), "it leads in circles").into())
    }

    fn once(
        &self,
        uri: &Uri,
        origin: &Origin,
        token: Option<&Token>,
        headers: &[(&str, &str)],
    ) -> Result<Answer, Trouble> {
        let mut request = self.agent.get(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        // A file that were packed on the way would have another length than the listing says.
        request = request.header(header::ACCEPT_ENCODING, "identity");
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, token.header());
        }
        let response = request
            .call()
            .map_err(|error| trouble(error, &origin.host, self.silence))?;
        let (parts, body) = response.into_parts();
        Ok(Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            host: origin.host.clone(),
            body,
            silence: self.silence,
            pace: Pace::start(self.slowness),
        })
    }
}

impl Answer {
    /// Returns a header's value where it is plain text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the length that is told.
    pub(super) fn length(&self) -> Option<u64> {
        self.body.content_length()
    }

    /// Returns what a failed read means.
    pub(super) fn lost(&self, error: std::io::Error) -> Trouble {
        trouble(ureq::Error::from(error), &self.host, self.silence)
    }

    /// Reads everything, `limit` bytes at most.
    pub(super) fn read_all(mut self, limit: u64) -> Result<Vec<u8>, Trouble> {
        let mut bytes = Vec::new();
        let read = (&mut self).take(limit.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| self.lost(error))?;
        if bytes.len() as u64 > limit {
            return Err(HubError::Answer {
                host: self.host,
                why: format!("more than {limit} bytes"),
            }
            .into());
        }
        Ok(bytes)
    }
}

/// The bytes that follow; errors go to [`Answer::lost`].
impl Read for Answer {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.body.as_reader().read(buffer)?;
        if read > 0 {
            self.pace.count(read)?;
        }
        Ok(read)
    }
}

fn redirect(host: &str, why: &'static str) -> HubError {
    HubError::Redirect {
        host: host.to_owned(),
        why,
    }
}

/// Returns where a redirect leads, still as the server wrote it.
fn redirect_of(answer: &Answer) -> Option<String> {
    let redirects = matches!(answer.status, 301 | 302 | 303 | 307 | 308);
    redirects.then(|| answer.header("location").unwrap_or_default().to_owned())
}

/// Returns the answer where it is one, else what its status means.
fn accept(
    answer: Answer,
    spec: &HubSpec,
    at_endpoint: bool,
    has_token: bool,
    endpoint: &Endpoint,
) -> Result<Answer, Trouble> {
    let failed = HubError::Status {
        host: answer.host.clone(),
        status: answer.status,
    };
    match answer.status {
        200 | 206 | 416 => Ok(answer),
        429 => Err(limited(&answer, has_token)),
        408 | 500..=599 => Err(Trouble::Passing {
            error: failed,
            wait: wait_of(&answer),
        }),
        // A signed address of another host has run out; the endpoint gives a new one.
        401 | 403 | 404 | 410 if !at_endpoint => Err(Trouble::Passing {
            error: failed,
            wait: None,
        }),
        401 | 403 | 404 => Err(refused(&answer, spec, has_token, endpoint).into()),
        _ => Err(failed.into()),
    }
}

fn limited(answer: &Answer, has_token: bool) -> Trouble {
    let wait = wait_of(answer);
    let hint = if has_token {
        ""
    } else {
        ", or set HF_TOKEN: who is known may ask more"
    };
    Trouble::Passing {
        error: HubError::Limited { wait, hint },
        wait,
    }
}

/// Returns the pause that a server asks for: `Retry-After`, or the reset of the hub's own `RateLimit` header
/// (`"api";r=0;t=55`, RFC draft "RateLimit header fields for HTTP").
fn wait_of(answer: &Answer) -> Option<Duration> {
    let after = answer.header("retry-after").and_then(|text| text.trim().parse().ok());
    let reset = || {
        let fields = answer.header("ratelimit")?.split(';');
        let mut values = fields.filter_map(|field| field.trim().strip_prefix("t="));
        values.next()?.trim().parse().ok()
    };
    after.or_else(reset).map(Duration::from_secs)
}

/// Returns what a refusal by the hub means. Without a token it answers alike for what is private and what is not there.
fn refused(answer: &Answer, spec: &HubSpec, has_token: bool, endpoint: &Endpoint) -> HubError {
    let repository = spec.repository();
    let page = endpoint.at(&format!("/{repository}"));
    let said = answer.header("x-error-message").unwrap_or_default();
    let said: String = said.chars().take(MAX_MESSAGE).collect();
    let said = if said.is_empty() {
        said
    } else {
        format!(" (the hub says: {said})")
    };
    let denied = |advice: String| HubError::Denied {
        repository: repository.clone(),
        advice: advice + &said,
    };
    let missing = |hint| HubError::NotFound {
        repository: repository.clone(),
        revision: spec.revision().to_owned(),
        hint,
    };
    match (answer.header("x-error-code").unwrap_or_default(), answer.status) {
        ("GatedRepo", _) => denied(gated_advice(&page, has_token)),
        ("DisabledRepo", _) => denied("the hub has closed it".to_owned()),
        ("RevisionNotFound" | "EntryNotFound", _) => missing(""),
        ("RepoNotFound", _) | ("", 401 | 404) if !has_token => missing("; if it is private, set HF_TOKEN"),
        ("RepoNotFound", _) | (_, 404) => missing("; if it is private, the token needs access to it"),
        (_, 401) => denied("the hub does not accept the token: make a new one and set HF_TOKEN".to_owned()),
        _ => denied(gated_advice(&page, has_token)),
    }
}

/// Returns what opens a repository whose licence must be accepted first.
pub(super) fn gated_advice(page: &str, has_token: bool) -> String {
    if has_token {
        format!("accept its terms at {page} with the account that the token belongs to")
    } else {
        format!("accept its terms at {page}, then set HF_TOKEN to a token of that account")
    }
}

/// Returns what a failure of the connection means. The address is left out: a signed one is a secret.
fn trouble(error: ureq::Error, host: &str, silence: Duration) -> Trouble {
    let unreachable = |why: String| HubError::Unreachable {
        host: host.to_owned(),
        why,
    };
    let garbage = |why: &str| {
        Trouble::Fatal(HubError::Answer {
            host: host.to_owned(),
            why: why.to_owned(),
        })
    };
    let passing = |why: String| Trouble::Passing {
        error: unreachable(why),
        wait: None,
    };
    match error {
        ureq::Error::Protocol(_) | ureq::Error::Http(_) => garbage("it is not HTTP"),
        ureq::Error::LargeResponseHeader(..) => garbage("its header is too long"),
        ureq::Error::Rustls(error) => Trouble::Fatal(unreachable(error.to_string())),
        // A certificate that nobody vouches for.
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            Trouble::Fatal(unreachable(error.to_string()))
        }
        ureq::Error::Timeout(_) => passing(format!("nothing came for {silence:?}")),
        ureq::Error::HostNotFound => passing("its name is not known".to_owned()),
        ureq::Error::Io(error) => passing(error.to_string()),
        ureq::Error::ConnectionFailed => passing("it does not answer".to_owned()),
        ureq::Error::InvalidProxyUrl | ureq::Error::ConnectProxyFailed(_) => {
            Trouble::Fatal(unreachable("the proxy of the environment does not work".to_owned()))
        }
        _ => passing("the request failed".to_owned()),
    }
}
