//! Points in time as values. Only the outermost crate reads a real clock.

use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, OffsetDateTime, PrimitiveDateTime, UtcOffset};

/// A point in time: milliseconds since 1970-01-01T00:00:00Z. Shown as RFC 3339 in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

/// The text is neither a date nor a date with a time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a date like 2026-03-01 or a time like 2026-03-01T09:30:00Z, found {found:?}")]
pub struct ParseTimestampError {
    found: String,
}

/// Tells the time. Injected everywhere, so that the same input gives the same bytes.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;

    /// Returns microseconds since a fixed moment of the clock's own choice; never goes back. For durations.
    fn monotonic_micros(&self) -> u64;
}

impl Timestamp {
    /// Wraps milliseconds since the Unix epoch.
    pub const fn from_unix_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns milliseconds since the Unix epoch.
    pub const fn unix_millis(self) -> i64 {
        self.0
    }
}

/// A clock that stands still: for programs whose results must not depend on when they run.
///
/// ```
/// use casebook_corpus::{Clock, Timestamp};
///
/// let noon: Timestamp = "2026-03-01T12:00:00Z".parse()?;
/// assert_eq!(noon.now(), noon);
/// # Ok::<(), casebook_corpus::ParseTimestampError>(())
/// ```
impl Clock for Timestamp {
    fn now(&self) -> Timestamp {
        *self
    }

    fn monotonic_micros(&self) -> u64 {
        0
    }
}

impl std::str::FromStr for Timestamp {
    type Err = ParseTimestampError;

    /// Reads a date (its midnight in UTC), or a date and time with or without an offset (UTC without).
    fn from_str(text: &str) -> Result<Self, ParseTimestampError> {
        let text = text.trim();
        let wrong = || ParseTimestampError {
            found: text.chars().take(80).collect(),
        };
        let day = format_description!("[year]-[month]-[day]");
        let second = format_description!("[year]-[month]-[day][first [T] [ ]][hour]:[minute][optional [:[second]]]");
        let moment = OffsetDateTime::parse(text, &Rfc3339)
            .or_else(|_| PrimitiveDateTime::parse(text, second).map(PrimitiveDateTime::assume_utc))
            .or_else(|_| Date::parse(text, day).map(|date| date.midnight().assume_utc()))
            .map_err(|_| wrong())?;
        // In UTC too the year must be one that RFC 3339 can write.
        let moment = moment
            .checked_to_offset(UtcOffset::UTC)
            .filter(|moment| (0..=9999).contains(&moment.year()));
        let moment = moment.ok_or_else(wrong)?;
        let millis = moment.unix_timestamp() * 1000 + i64::from(moment.millisecond());
        Ok(Self(millis))
    }
}

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let formatted = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000)
            .ok()
            .and_then(|moment| moment.format(&Rfc3339).ok());
        match formatted {
            Some(text) => f.write_str(&text),
            None => write!(f, "{}ms", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_read() {
        for (text, shown) in [
            ("1970-01-02", "1970-01-02T00:00:00Z"),
            ("1970-01-02 03:04", "1970-01-02T03:04:00Z"),
            ("1970-01-02T03:04:05", "1970-01-02T03:04:05Z"),
            ("1970-01-02T03:04:05.250+08:00", "1970-01-01T19:04:05.25Z"),
        ] {
            assert_eq!(text.parse::<Timestamp>().unwrap().to_string(), shown, "{text}");
        }
        for text in [
            "",
            "soon",
            "1970-13-01",
            "2026",
            "-0001-01-01",
            "9999-12-31T23:59:59-14:00",
        ] {
            assert!(text.parse::<Timestamp>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn as_a_clock_it_stands_still() {
        let clock: &dyn Clock = &Timestamp::from_unix_millis(5);
        assert_eq!((clock.now().unix_millis(), clock.monotonic_micros()), (5, 0));
    }

    #[test]
    fn times_no_calendar_holds_are_still_shown() {
        assert_eq!(
            Timestamp::from_unix_millis(i64::MAX).to_string(),
            format!("{}ms", i64::MAX)
        );
    }
}
