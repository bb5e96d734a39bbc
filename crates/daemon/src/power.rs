//! Whether the machine runs on battery, as Linux tells it below `/sys/class/power_supply`.
//!
//! The one thing a newcomer gets wrong: "unknown" is the rule, not the exception. Desktops, servers, containers and other
//! systems tell nothing, and nothing may wait for them.

use std::fs;
use std::path::{Path, PathBuf};

/// Where Linux tells of power supplies.
const SUPPLIES: &str = "/sys/class/power_supply";

/// What feeds the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PowerSource {
    /// The mains.
    Mains,
    /// A battery that is running down.
    Battery,
    /// Nothing says it.
    Unknown,
}

/// A folder of power supplies.
#[derive(Clone, Debug)]
pub(crate) struct Power(PathBuf);

impl Power {
    /// The machine's own.
    pub(crate) fn of_this_machine() -> Self {
        Self::below(Path::new(SUPPLIES))
    }

    /// Any folder of that form.
    pub(crate) fn below(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    /// Returns what feeds the machine now. A supply from outside that is on counts before a battery; batteries of mice and
    /// the like (`scope` is `Device`) do not count.
    pub(crate) fn source(&self) -> PowerSource {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut source = PowerSource::Unknown;
        for folder in entries.map(|entry| entry.path()) {
            let told = |name: &str| fs::read_to_string(folder.join(name)).map(|text| text.trim().to_owned());
            if told("scope").is_ok_and(|scope| scope == "Device") {
                continue;
            }
            match told("type").as_deref() {
                Ok("Battery") if told("status").is_ok_and(|status| status == "Discharging") => {
                    source = PowerSource::Battery;
                }
                Ok("Battery" | "UPS") | Err(_) => {}
                Ok(_) if told("online").is_ok_and(|online| online == "1") => return PowerSource::Mains,
                Ok(_) => {}
            }
        }
        source
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Folders with the files in them.
    type Supplies<'a> = &'a [(&'a str, &'a [(&'a str, &'a str)])];

    fn source(supplies: Supplies<'_>) -> PowerSource {
        let root = tempfile::tempdir().unwrap();
        for (name, files) in supplies {
            let folder = root.path().join(name);
            fs::create_dir(&folder).unwrap();
            for (file, text) in *files {
                fs::write(folder.join(file), format!("{text}\n")).unwrap();
            }
        }
        Power::below(root.path()).source()
    }

    const DISCHARGING: (&str, &[(&str, &str)]) = ("BAT0", &[("type", "Battery"), ("status", "Discharging")]);

    #[test]
    fn a_battery_that_runs_down_is_battery_power() {
        assert_eq!(source(&[DISCHARGING]), PowerSource::Battery);
        let unplugged: (&str, &[(&str, &str)]) = ("AC", &[("type", "Mains"), ("online", "0")]);
        assert_eq!(source(&[unplugged, DISCHARGING]), PowerSource::Battery);
    }

    #[test]
    fn what_is_plugged_in_is_mains_power() {
        for (name, kind) in [("AC", "Mains"), ("ucsi", "USB")] {
            let plugged: (&str, &[(&str, &str)]) = (name, &[("type", kind), ("online", "1")]);
            assert_eq!(source(&[DISCHARGING, plugged]), PowerSource::Mains);
        }
    }

    #[test]
    fn what_tells_nothing_is_unknown() {
        assert_eq!(source(&[]), PowerSource::Unknown);
        let full: (&str, &[(&str, &str)]) = ("BAT0", &[("type", "Battery"), ("status", "Full")]);
        assert_eq!(source(&[full]), PowerSource::Unknown);
        let mouse: (&str, &[(&str, &str)]) = (
            "hid",
            &[("type", "Battery"), ("status", "Discharging"), ("scope", "Device")],
        );
        assert_eq!(source(&[mouse]), PowerSource::Unknown);
        assert_eq!(source(&[("odd", &[])]), PowerSource::Unknown);
        assert_eq!(
            Power::below(Path::new("/nowhere/at/all")).source(),
            PowerSource::Unknown
        );
    }
}
