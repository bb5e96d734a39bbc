//! The variables and the file that other tools for the hub read as well.

use std::fmt;
use std::path::{Path, PathBuf};

use super::{Endpoint, HubError};

/// Longer than any token: what is longer is another file.
const MAX_TOKEN: u64 = 4096;

/// What proves to the hub who asks. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token(String);

impl Token {
    /// Returns a token; `None` where the text is blank.
    ///
    /// # Errors
    /// When it has characters that cannot stand in a request. `place` says where it came from.
    pub(crate) fn new(text: &str, place: &str) -> Result<Option<Self>, HubError> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(HubError::Token {
                place: place.to_owned(),
            });
        }
        Ok(Some(Self(text.to_owned())))
    }

    /// Returns the value of the header that carries it.
    pub(super) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Finds a variable by its name.
type Variables = dyn Fn(&str) -> Option<String>;

/// What the environment says, injected so that a test does not depend on the machine's.
pub(crate) struct Environment {
    variables: Box<Variables>,
    home: Option<PathBuf>,
}

impl Environment {
    /// Returns this process's environment.
    pub(crate) fn of_process() -> Self {
        let home = etcetera::home_dir().ok();
        Self::new(|name| std::env::var(name).ok(), home)
    }

    /// Returns an environment of these variables and this home folder.
    pub(crate) fn new(variables: impl Fn(&str) -> Option<String> + 'static, home: Option<PathBuf>) -> Self {
        Self {
            variables: Box::new(variables),
            home,
        }
    }

    fn get(&self, name: &str) -> Option<String> {
        (self.variables)(name).filter(|value| !value.trim().is_empty())
    }

    fn is_on(&self, name: &str) -> bool {
        let on = ["1", "true", "yes", "on"];
        self.get(name)
            .is_some_and(|value| on.contains(&value.trim().to_lowercase().as_str()))
    }

    /// Returns the hub's address: `HF_ENDPOINT`, else the hub itself.
    pub(super) fn endpoint(&self) -> Result<Endpoint, HubError> {
        if self.is_on("HF_HUB_OFFLINE") {
            return Err(HubError::Offline);
        }
        self.get("HF_ENDPOINT")
            .map_or_else(|| Ok(Endpoint::default()), |text| Endpoint::parse(text.trim()))
    }

    /// Returns the token: `HF_TOKEN`, else the file that a login to the hub left. That login was with the hub itself, so a
    /// mirror gets only a token that was set by hand.
    pub(super) fn token(&self, endpoint: &Endpoint) -> Result<Option<Token>, HubError> {
        if let Some(text) = self.get("HF_TOKEN") {
            return Token::new(&text, "HF_TOKEN");
        }
        if !endpoint.is_default() || self.is_on("HF_HUB_DISABLE_IMPLICIT_TOKEN") {
            return Ok(None);
        }
        let Some(file) = self.token_file() else {
            return Ok(None);
        };
        // A file that cannot be read is like none: most models need no token.
        match read_short(&file) {
            Some(text) => Token::new(&text, &file.display().to_string()),
            None => Ok(None),
        }
    }

    fn token_file(&self) -> Option<PathBuf> {
        if let Some(path) = self.get("HF_TOKEN_PATH") {
            return Some(PathBuf::from(path));
        }
        let folder = self.get("HF_HOME").map(PathBuf::from).or_else(|| {
            let cache = self.get("XDG_CACHE_HOME").map(PathBuf::from);
            let cache = cache.or_else(|| self.home.as_ref().map(|home| home.join(".cache")));
            cache.map(|cache| cache.join("huggingface"))
        });
        folder.map(|folder| folder.join("token"))
    }
}

fn read_short(path: &Path) -> Option<String> {
    let length = path.metadata().ok()?;
    if !length.is_file() || length.len() > MAX_TOKEN {
        return None;
    }
    std::fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &'static [(&'static str, &'static str)], home: Option<&Path>) -> Environment {
        let get = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Environment::new(get, home.map(Path::to_owned))
    }

    fn token(text: &str) -> Option<Token> {
        Some(Token(text.to_owned()))
    }

    #[test]
    fn options_follow_the_environment() {
        use super::super::{HubOptions, MAX_BYTES, RealSleeper};
        let environment = environment(&[("HF_ENDPOINT", "https://hf-mirror.com/"), ("HF_TOKEN", "hf_x")], None);
        let options = HubOptions::new(&environment, &RealSleeper, &()).unwrap();
        assert_eq!(options.endpoint.at("/a"), "https://hf-mirror.com/a");
        assert_eq!((options.token, options.max_bytes), (token("hf_x"), MAX_BYTES));
        // Whatever this machine says, it is read or refused.
        let _ = HubOptions::new(&Environment::of_process(), &RealSleeper, &());
    }

    #[test]
    fn the_endpoint_is_the_hub_unless_told() {
        assert!(environment(&[], None).endpoint().unwrap().is_default());
        assert!(
            environment(&[("HF_ENDPOINT", " ")], None)
                .endpoint()
                .unwrap()
                .is_default()
        );
        let mirror = environment(&[("HF_ENDPOINT", "https://hf-mirror.com")], None);
        assert!(!mirror.endpoint().unwrap().is_default());
        let plain = environment(&[("HF_ENDPOINT", "http://hf-mirror.com")], None);
        assert_eq!(plain.endpoint().unwrap_err().code(), "hub_endpoint_invalid");
        let offline = environment(&[("HF_HUB_OFFLINE", "1")], None);
        assert_eq!(offline.endpoint().unwrap_err().code(), "hub_offline");
    }

    #[test]
    fn a_token_is_found_where_other_tools_find_it() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".cache/huggingface");
        let hub = Endpoint::default();
        assert_eq!(environment(&[], Some(home.path())).token(&hub).unwrap(), None);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("token"), "hf_file\n").unwrap();
        assert_eq!(
            environment(&[], Some(home.path())).token(&hub).unwrap(),
            token("hf_file")
        );
        let both = environment(&[("HF_TOKEN", "hf_variable")], Some(home.path()));
        assert_eq!(both.token(&hub).unwrap(), token("hf_variable"));
        let refused = environment(&[("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")], Some(home.path()));
        assert_eq!(refused.token(&hub).unwrap(), None);
        std::fs::write(folder.join("token"), "x".repeat(5000)).unwrap();
        assert_eq!(environment(&[], Some(home.path())).token(&hub).unwrap(), None);
    }

    #[test]
    fn the_login_of_the_hub_is_not_for_a_mirror() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".cache/huggingface");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("token"), "hf_file\n").unwrap();
        let mirror = Endpoint::parse("https://hf-mirror.com").unwrap();
        assert_eq!(environment(&[], Some(home.path())).token(&mirror).unwrap(), None);
        let by_hand = environment(&[("HF_TOKEN", "hf_variable")], Some(home.path()));
        assert_eq!(by_hand.token(&mirror).unwrap(), token("hf_variable"));
    }

    #[test]
    fn a_token_is_never_shown() {
        let shown = format!("{:?}", Token::new("hf_secret", "HF_TOKEN").unwrap());
        assert!(!shown.contains("secret"), "{shown}");
        for text in ["hf_secret\r\nX: y", "hf_secret密", "hf secret"] {
            let error = Token::new(text, "HF_TOKEN").unwrap_err();
            assert_eq!(error.code(), "hub_token_invalid");
            assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
        }
    }
}
