//! How the encoders stand, for people.

use casebook_api::wire::{EncoderRole, EncoderState, FillResponse, FillStatusResponse};

use super::{counted, safe, table};

/// Renders the outcome of a fill.
pub(crate) fn fill(response: &FillResponse) -> String {
    let encoder = safe(&response.encoder);
    let mut text = format!(
        "{} of {} units have vectors of {encoder}; {} encoded now in {} ms",
        response.vectors, response.units, response.encoded, response.elapsed_ms
    );
    if response.refused > 0 {
        let units = counted(usize::try_from(response.refused).unwrap_or(usize::MAX), "unit");
        text += &format!("\n! the encoder refused {units}; the embedded encoder finds them");
    }
    if response.unweighed_now > 0 {
        let inputs = counted(usize::try_from(response.unweighed_now).unwrap_or(usize::MAX), "unit");
        text += &format!("\n! the sparse head refused {inputs}; the other lanes find them");
    }
    text += &match response.end.as_str() {
        "complete" => format!("\n{encoder} answers questions now"),
        "paused" => "\nfilling is paused; `casebook models resume`, then `casebook models fill` go on".to_owned(),
        "not_wanted" => "\nthe settings do not choose it any more, or it was removed; what was made stays".to_owned(),
        _ => "\nmore are to come; `casebook models fill` goes on".to_owned(),
    };
    text
}

/// Renders how the encoders stand.
pub(crate) fn fill_status(response: &FillStatusResponse) -> String {
    let mut rows = table(["ENCODER", "ROLE", "VECTORS", "MISSING", "REFUSED", "STATE"]);
    for encoder in &response.encoders {
        rows.add_row([
            safe(&encoder.revision),
            role(encoder.role).to_owned(),
            format!("{} of {}", encoder.vectors, encoder.units),
            encoder.missing.to_string(),
            encoder.refused.to_string(),
            state(encoder, response.filling && !response.paused).to_owned(),
        ]);
    }
    let encoders = if response.encoders.is_empty() {
        "there is no index yet; `casebook index` makes one".to_owned()
    } else {
        rows.to_string()
    };
    let now = match (response.filling, response.paused) {
        (true, true) => "filling is paused; the process at work ends before its next batch",
        (true, false) => "a process is filling now",
        (false, true) => "filling is paused; `casebook models resume` allows it again",
        (false, false) => "nobody is filling",
    };
    let problems = response.problems.iter();
    let problems: String = problems
        .map(|problem| format!("\n! {}", safe(&problem.detail)))
        .collect();
    format!("{encoders}\n{now}{problems}")
}

fn role(role: EncoderRole) -> &'static str {
    match role {
        EncoderRole::Embedded => "embedded",
        EncoderRole::Chosen => "chosen",
        EncoderRole::Kept => "kept",
    }
}

/// `filling`: whether someone is at work, who fills the chosen one.
fn state(encoder: &EncoderState, filling: bool) -> &'static str {
    match (encoder.answers, encoder.complete) {
        (true, _) => "answers",
        (false, true) => "complete",
        (false, false) if filling && encoder.role == EncoderRole::Chosen => "being filled",
        (false, false) => "not complete",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_someone_fills_is_being_filled() {
        let encoder = |role| EncoderState {
            revision: "pack.1".to_owned(),
            role,
            answers: false,
            dimension: None,
            sparse: false,
            units: 2,
            vectors: 1,
            missing: 1,
            refused: 0,
            complete: false,
            was_complete: false,
        };
        for (role, filling, paused, expected) in [
            (EncoderRole::Chosen, true, false, true),
            (EncoderRole::Chosen, true, true, false),
            (EncoderRole::Chosen, false, false, false),
            (EncoderRole::Kept, true, false, false),
        ] {
            let response = FillStatusResponse {
                encoders: vec![encoder(role)],
                filling,
                paused,
                problems: Vec::new(),
            };
            assert_eq!(
                fill_status(&response).contains("being filled"),
                expected,
                "{response:?}"
            );
        }
    }
}
