//! Which licence a model has, and whether it may be taken without asking.

use super::PackError;

/// Licences that allow every use. Anything else is a person's decision.
const FREE: &[&str] = &[
    "0BSD",
    "AFL-3.0",
    "AGPL-3.0",
    "AGPL-3.0-only",
    "AGPL-3.0-or-later",
    "Apache-2.0",
    "Artistic-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSD-3-Clause-Clear",
    "BSL-1.0",
    "CC-BY-2.0",
    "CC-BY-2.5",
    "CC-BY-3.0",
    "CC-BY-4.0",
    "CC-BY-SA-3.0",
    "CC-BY-SA-4.0",
    "CC0-1.0",
    "CDLA-Permissive-1.0",
    "CDLA-Permissive-2.0",
    "ECL-2.0",
    "EPL-2.0",
    "EUPL-1.1",
    "EUPL-1.2",
    "GPL-2.0",
    "GPL-2.0-only",
    "GPL-2.0-or-later",
    "GPL-3.0",
    "GPL-3.0-only",
    "GPL-3.0-or-later",
    "ISC",
    "LGPL-2.1",
    "LGPL-3.0",
    "LGPL-3.0-only",
    "LGPL-3.0-or-later",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "MS-PL",
    "MulanPSL-2.0",
    "NCSA",
    "ODC-By-1.0",
    "PDDL-1.0",
    "PostgreSQL",
    "Unlicense",
    "UPL-1.0",
    "WTFPL",
    "Zlib",
];

/// Returns the licence to write down: what the caller says, else the first that is declared. Where declarations differ, one
/// that is not known to be free counts before all others.
///
/// # Errors
/// [`PackError::LicenceMissing`] where nobody says any, [`PackError::LicenceRefused`] where one is not known to be free
/// and not allowed.
pub(crate) fn decide(
    asked: Option<&str>,
    declared: impl IntoIterator<Item = Option<String>>,
    allowed: bool,
) -> Result<String, PackError> {
    let declared = declared.into_iter().flatten().filter(|text| !text.trim().is_empty());
    let mut declared: Vec<String> = declared.collect();
    let strictest = declared.iter().position(|text| !is_free(&canonical(text)));
    let strictest = (!declared.is_empty()).then(|| declared.swap_remove(strictest.unwrap_or(0)));
    let found = asked.map(ToOwned::to_owned).or(strictest);
    let found = found.ok_or(PackError::LicenceMissing)?;
    let licence = canonical(&found);
    if licence.is_empty() || licence.len() > 200 || licence.chars().any(char::is_control) {
        return Err(PackError::LicenceMissing);
    }
    if allowed || is_free(&licence) {
        Ok(licence)
    } else {
        Err(PackError::LicenceRefused { licence })
    }
}

/// Writes the parts of an expression as SPDX does; leaves the unknown ones.
fn canonical(text: &str) -> String {
    let words = text.split_whitespace().map(|word| {
        let bare = word.trim_matches(['(', ')']);
        let known = FREE.iter().find(|known| known.eq_ignore_ascii_case(bare));
        known.map_or_else(|| word.to_owned(), |known| word.replace(bare, known))
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Of an `OR` one part must be free, of an `AND` all. Parentheses are looked through: that is stricter only for an `OR`
/// within an `AND`.
fn is_free(licence: &str) -> bool {
    let free = |part: &str| FREE.contains(&part.trim().trim_matches(['(', ')']));
    licence.split(" OR ").any(|option| option.split(" AND ").all(free))
}

/// Returns the licence that the front matter of a model card declares: `license_name` where `license` is `other`, a list
/// joined by `AND`.
pub(crate) fn of_card(card: &str) -> Option<String> {
    let front = front_matter(card)?;
    let value = |key: &str| front.iter().position(|line| line.starts_with(key));
    let at = value("license:")?;
    let scalar = unquote(&front[at]["license:".len()..]);
    if scalar.is_empty() {
        let items = front[at + 1..].iter().map_while(|line| line.trim().strip_prefix("- "));
        let items: Vec<_> = items.map(unquote).collect();
        return (!items.is_empty()).then(|| items.join(" AND "));
    }
    if let Some(list) = scalar.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return Some(list.split(',').map(unquote).collect::<Vec<_>>().join(" AND "));
    }
    if scalar == "other" {
        let name = value("license_name:").map(|at| unquote(&front[at]["license_name:".len()..]));
        return Some(name.filter(|name| !name.is_empty()).unwrap_or(scalar));
    }
    Some(scalar)
}

/// Returns the lines between the first two `---` of a card.
pub(crate) fn front_matter(card: &str) -> Option<Vec<&str>> {
    let mut lines = card.lines();
    if lines.next()?.trim_start_matches('\u{feff}').trim_end() != "---" {
        return None;
    }
    Some(lines.take_while(|line| line.trim_end() != "---").take(2000).collect())
}

fn unquote(text: &str) -> String {
    let text = text.split(" #").next().unwrap_or_default().trim();
    text.trim_matches(['"', '\'']).to_owned()
}

/// Returns the licence that a wheel's `METADATA` declares: the SPDX expression before the free text.
pub(crate) fn of_wheel(metadata: &str) -> Option<String> {
    let headers: Vec<_> = metadata.lines().take_while(|line| !line.is_empty()).collect();
    let header = |name: &str| {
        let found = headers.iter().find_map(|line| line.strip_prefix(name));
        found
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
    };
    header("License-Expression:").or_else(|| header("License:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(licence: &str, expected: Result<&str, &str>) {
        let found = decide(None, [Some(licence.to_owned())], false);
        let found = found.as_deref().map_err(PackError::code);
        assert_eq!(found, expected, "{licence}");
    }

    #[test]
    fn free_licences_are_taken_and_written_as_spdx() {
        check("mit", Ok("MIT"));
        check("apache-2.0", Ok("Apache-2.0"));
        check("MIT OR cc-by-nc-4.0", Ok("MIT OR cc-by-nc-4.0"));
        check("(mit AND Apache-2.0)", Ok("(MIT AND Apache-2.0)"));
    }

    #[test]
    fn others_are_refused_unless_allowed() {
        for licence in [
            "cc-by-nc-4.0",
            "other",
            "gemma",
            "llama3.2",
            "unknown",
            "openrail",
            "mit AND cc-by-nc-sa-4.0",
        ] {
            check(licence, Err("pack_licence_refused"));
        }
        check(" ", Err("pack_licence_missing"));
        assert_eq!(decide(None, [None], true).unwrap_err().code(), "pack_licence_missing");
        assert_eq!(decide(Some("gemma"), [None], true).unwrap(), "gemma");
        assert_eq!(decide(Some("mit"), [Some("gemma".into())], false).unwrap(), "MIT");
    }

    #[test]
    fn a_card_declares_its_licence_in_each_form() {
        for (card, licence) in [
            (
                "---\nlanguage: en\nlicense: apache-2.0\n---\n# Card",
                Some("apache-2.0"),
            ),
            ("---\nlicense: \"mit\" # free\n---", Some("mit")),
            ("---\nlicense: [mit, gemma]\n---", Some("mit AND gemma")),
            ("---\nlicense:\n- mit\n- gpl-3.0\ntags: x\n---", Some("mit AND gpl-3.0")),
            ("---\nlicense: other\nlicense_name: acme\n---", Some("acme")),
            ("---\nlicense: other\n---", Some("other")),
            ("---\ntags: x\n---\nlicense: mit", None),
            ("# Card\nlicense: mit", None),
            ("", None),
        ] {
            assert_eq!(of_card(card).as_deref(), licence, "{card:?}");
        }
    }

    #[test]
    fn a_wheel_declares_its_licence_in_its_headers() {
        let metadata = "Name: x\nLicense: MIT License\nLicense-Expression: MIT\n\nLicense: GPL";
        assert_eq!(of_wheel(metadata).as_deref(), Some("MIT"));
        assert_eq!(of_wheel("Name: x\nLicense: MIT\n").as_deref(), Some("MIT"));
        assert_eq!(of_wheel("Name: x\n\nLicense: MIT"), None);
    }

    #[test]
    fn of_declarations_that_differ_the_stricter_wins() {
        let decide = |declared: &[&str]| {
            let declared = declared.iter().map(|text| Some((*text).to_owned()));
            decide(None, declared, false).map_err(|error| error.code())
        };
        assert_eq!(decide(&["mit", "apache-2.0"]), Ok("MIT".to_owned()));
        assert_eq!(decide(&["mit", "cc-by-nc-4.0"]), Err("pack_licence_refused"));
        assert_eq!(decide(&["cc-by-nc-4.0", "mit"]), Err("pack_licence_refused"));
        assert_eq!(decide(&["", " ", "mit"]), Ok("MIT".to_owned()));
        assert_eq!(decide(&[]), Err("pack_licence_missing"));
    }
}
