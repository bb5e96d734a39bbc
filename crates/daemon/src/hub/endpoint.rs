//! Where the hub is, and which addresses a request may go to.

use ureq::http::Uri;
use ureq::http::uri::Scheme;

use super::HubError;

/// The hub itself.
const DEFAULT: &str = "https://huggingface.co";

/// The hub's address: `https`, or `http` on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    base: String,
    origin: Origin,
}

/// Whom a request goes to. Only an equal one gets the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) secure: bool,
    pub(super) host: String,
    pub(super) port: u16,
}

impl Default for Endpoint {
    fn default() -> Self {
        Self::parse(DEFAULT).expect("the default address is valid")
    }
}

impl Endpoint {
    /// Reads an address like `https://huggingface.co`; a path is kept, a `/` at its end is not.
    ///
    /// # Errors
    /// When it is no address, has a query or a user in it, or is plain `http` to another machine.
    pub(crate) fn parse(text: &str) -> Result<Self, HubError> {
        let wrong = |why| HubError::Endpoint {
            text: without_user(text),
            why,
        };
        let uri: Uri = text.parse().map_err(|_| wrong("it is no address"))?;
        let origin = Origin::of(&uri).ok_or_else(|| wrong("it is no address that begins with https://"))?;
        if uri.query().is_some() {
            return Err(wrong("it has a query"));
        }
        if !origin.is_safe() {
            return Err(wrong("plain http goes only to this machine: use https"));
        }
        Ok(Self {
            base: text.trim_end_matches('/').to_owned(),
            origin,
        })
    }

    /// Returns whether this is the hub itself and no mirror.
    pub(super) fn is_default(&self) -> bool {
        self.origin == Self::default().origin
    }

    pub(super) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the address of a path that begins with `/`.
    pub(super) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }
}

impl Origin {
    /// Returns whom an address leads to; `None` where it is no plain web address.
    pub(super) fn of(uri: &Uri) -> Option<Self> {
        let secure = match uri.scheme()? {
            scheme if *scheme == Scheme::HTTPS => true,
            scheme if *scheme == Scheme::HTTP => false,
            _ => return None,
        };
        let authority = uri.authority()?;
        let host = authority.host().to_ascii_lowercase();
        if host.is_empty() || authority.as_str().contains('@') {
            return None;
        }
        // A port that is not a number is no port of ours.
        let port = match authority.port_u16() {
            Some(port) => port,
            None if authority.as_str().ends_with(authority.host()) => {
                if secure {
                    443
                } else {
                    80
                }
            }
            None => return None,
        };
        Some(Self { secure, host, port })
    }

    /// Returns whether nobody between here and there can read or change what is said.
    pub(super) fn is_safe(&self) -> bool {
        self.secure || self.is_this_machine()
    }

    /// Returns whether it is a loopback address. A name other than `localhost` may be anywhere.
    pub(super) fn is_this_machine(&self) -> bool {
        let bare = self.host.trim_start_matches('[').trim_end_matches(']');
        bare == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }
}

/// Returns an address without what may be a password.
fn without_user(text: &str) -> String {
    match (text.split_once("://"), text.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
        (None, Some((_, rest))) => rest.to_owned(),
        _ => text.to_owned(),
    }
}

/// Returns where a redirect leads, from an address and its `Location`.
pub(super) fn follow(from: &Uri, location: &str) -> Option<Uri> {
    // What comes after `#` is for browsers.
    let location = location.split('#').next().unwrap_or_default();
    let scheme = from.scheme_str()?;
    let absolute = if location.starts_with("//") {
        format!("{scheme}:{location}")
    } else if location.starts_with('/') {
        format!("{scheme}://{}{location}", from.authority()?)
    } else {
        location.to_owned()
    };
    absolute.parse().ok()
}

/// Returns a path's segments percent-encoded, with `/` between them.
pub(super) fn encode_path(path: &str) -> String {
    path.split('/').map(encode_segment).collect::<Vec<_>>().join("/")
}

/// Returns a text percent-encoded as one segment of a path.
pub(super) fn encode_segment(segment: &str) -> String {
    let encode = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    segment.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_safe_from_listeners() {
        for text in [
            "https://huggingface.co",
            "https://hf-mirror.com/",
            "https://mirror.example/hub/",
            "http://127.0.0.1:8080",
            "http://[::1]:8080",
            "http://localhost",
        ] {
            let endpoint = Endpoint::parse(text).unwrap();
            assert_eq!(endpoint.at("/x"), format!("{}/x", text.trim_end_matches('/')));
        }
        for text in [
            "",
            "huggingface.co",
            "/x",
            "ftp://huggingface.co",
            "http://huggingface.co",
            "http://127.0.0.1.example.org",
            "http://localhost.example.org",
            "https://huggingface.co?x=y",
            "https://me:secret@huggingface.co",
            "https://",
            "https://a b",
        ] {
            let error = Endpoint::parse(text).unwrap_err();
            assert_eq!(error.code(), "hub_endpoint_invalid", "{text}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }

    #[test]
    fn origins_compare_by_scheme_host_and_port() {
        let origin = |text: &str| Origin::of(&text.parse().unwrap()).unwrap();
        assert_eq!(origin("https://A.example"), origin("https://a.example:443/x?y"));
        assert_ne!(origin("https://a.example"), origin("http://a.example:443"));
        assert_ne!(origin("https://a.example"), origin("https://b.a.example"));
        assert_ne!(origin("https://a.example"), origin("https://a.example:8443"));
    }

    #[test]
    fn redirects_are_resolved() {
        let from: Uri = "https://a.example:8443/x/y?z".parse().unwrap();
        for (location, expected) in [
            ("/b?c#d", "https://a.example:8443/b?c"),
            ("//b.example/c", "https://b.example/c"),
            ("https://b.example/c?d=%20", "https://b.example/c?d=%20"),
        ] {
            assert_eq!(follow(&from, location).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn paths_are_encoded() {
        assert_eq!(encode_path("1_Pooling/config.json"), "1_Pooling/config.json");
        assert_eq!(encode_path("a b/c?d#e%/模"), "a%20b/c%3Fd%23e%25/%E6%A8%A1");
        assert_eq!(encode_segment("refs/pr/1"), "refs%2Fpr%2F1");
    }
}
