//! The language of a text, told by its script: enough to know whether a question and a passage share their words.

/// Characters of a text that are looked at; the rest does not count.
const LOOKED_AT: usize = 400;

/// A language that queries and memories are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// Chinese, in either script.
    Zh,
    /// English; any text of Latin letters.
    En,
    /// Neither: another script, or no letters at all.
    Other,
}

impl Language {
    /// Every value, in order of declaration.
    pub const ALL: [Self; 3] = [Self::Zh, Self::En, Self::Other];

    /// Returns the stable string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Zh => "zh",
            Self::En => "en",
            Self::Other => "other",
        }
    }

    /// Returns the value of a stable string.
    pub fn from_str_opt(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.as_str() == text)
    }

    /// Returns the language of a text by its first 400 characters. Chinese developer text is full of Latin names, so one
    /// Chinese character weighs as much as two Latin words.
    ///
    /// ```
    /// use casebook_index::Language;
    ///
    /// assert_eq!(Language::of("用 kubectl apply 部署到 staging"), Language::Zh);
    /// assert_eq!(Language::of("the 東京 office opens at nine"), Language::En);
    /// ```
    pub fn of(text: &str) -> Self {
        let mut counts = Counts::default();
        let mut in_word = false;
        for character in text.chars().take(LOOKED_AT) {
            let latin = is_latin(character);
            counts.latin_words += usize::from(latin && !in_word);
            in_word = latin;
            match character {
                _ if latin => {}
                _ if is_han(character) => counts.han += 1,
                _ if character.is_alphabetic() => counts.other += 1,
                _ => {}
            }
        }
        counts.language()
    }

    /// Returns whether texts of the two share no words: one is Chinese, the other English.
    pub fn is_foreign_to(self, other: Self) -> bool {
        self != other && self != Self::Other && other != Self::Other
    }
}

impl std::fmt::Display for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

#[derive(Default)]
struct Counts {
    han: usize,
    latin_words: usize,
    other: usize,
}

impl Counts {
    fn language(&self) -> Language {
        // Japanese mixes Han characters into kana.
        if self.other > self.han && self.other > 2 * self.latin_words {
            Language::Other
        } else if self.han > 0 && 2 * self.han >= self.latin_words {
            Language::Zh
        } else if self.latin_words > 0 {
            Language::En
        } else {
            Language::Other
        }
    }
}

fn is_latin(character: char) -> bool {
    character.is_ascii_alphabetic() || (matches!(character, '\u{c0}'..='\u{24f}') && character.is_alphabetic())
}

fn is_han(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_tells_the_language() {
        for (text, expected) in [
            ("为什么发布失败了", Language::Zh),
            ("為什麼發佈失敗了", Language::Zh),
            ("why did the release fail", Language::En),
            ("déployer l'équipe", Language::En),
            ("k8s 部署", Language::Zh),
            ("`kubectl get pods -n prod` 查看", Language::En),
            ("`kubectl get pods -n prod` 查看状态", Language::Zh),
            ("Li Wei (李伟) owns the release notes of this team", Language::En),
            ("リリースが失敗した理由", Language::Other),
            ("почему не работает", Language::Other),
            ("", Language::Other),
            ("42 %!", Language::Other),
        ] {
            assert_eq!(Language::of(text), expected, "{text}");
        }
    }

    #[test]
    fn only_the_beginning_counts() {
        let text = "字".repeat(LOOKED_AT) + &"word ".repeat(5000);
        assert_eq!(Language::of(&text), Language::Zh);
    }

    #[test]
    fn only_chinese_and_english_are_foreign_to_each_other() {
        for one in Language::ALL {
            assert_eq!(Language::from_str_opt(one.as_str()), Some(one));
            for other in Language::ALL {
                let foreign = one != other && one != Language::Other && other != Language::Other;
                assert_eq!(one.is_foreign_to(other), foreign);
            }
        }
    }
}
