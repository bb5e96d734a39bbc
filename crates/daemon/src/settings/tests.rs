use super::*;

fn layers(user: &str, project: &str, environment: &[(&str, &str)]) -> Result<Layers, String> {
    let folder = tempfile::tempdir().unwrap();
    let (user_file, project_file) = (folder.path().join("config.toml"), folder.path().join("casebook.toml"));
    std::fs::write(&user_file, user).unwrap();
    std::fs::write(&project_file, project).unwrap();
    let environment = environment
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Layers::read(Some(&user_file), &project_file, environment).map_err(|failure| failure.0.message)
}

fn project_of(layers: &Layers) -> Result<Project, String> {
    let folder = tempfile::tempdir().unwrap();
    project(folder.path().to_owned(), folder.path(), layers).map_err(|failure| failure.0.message)
}

#[test]
fn later_layers_win() {
    let user = "[ranker]\ntoken_budget = 1\nper_resource = 1\nfragment_limit = 1";
    let project = "[ranker]\nper_resource = 2\nfragment_limit = 2";
    let mut layers = layers(user, project, &[("CASEBOOK_RANKER_FRAGMENT_LIMIT", "3"), ("PATH", "x")]).unwrap();
    let ranker = project_of(&layers).unwrap().ranker;
    assert_eq!(
        (ranker.token_budget, ranker.per_resource, ranker.fragment_limit),
        (1, 2, 3)
    );
    layers.add_flag("--max-fragments", "ranker.fragment_limit", 4);
    assert_eq!(project_of(&layers).unwrap().ranker.fragment_limit, 4);
    assert_eq!(
        layers.get("ranker.fragment_limit").unwrap().1.to_string(),
        "--max-fragments"
    );
    assert!(
        layers
            .get("ranker.per_resource")
            .unwrap()
            .1
            .to_string()
            .ends_with("casebook.toml")
    );
}

#[test]
fn unknown_keys_are_errors_with_a_suggestion() {
    for (project, environment, suggestion) in [
        ("[ranker]\ntoken_budgte = 1", None, "ranker.token_budget"),
        ("[rankre]\ntoken_budget = 1", None, "ranker.token_budget"),
        ("idd = 'x'", None, "did you mean id?"),
        (
            "",
            Some(("CASEBOOK_RANKER_TOKENBUDGET", "1")),
            "CASEBOOK_RANKER_TOKEN_BUDGET",
        ),
        ("zzz = 1", None, "casebook config show"),
    ] {
        let message = layers("", project, environment.as_slice()).unwrap_err();
        assert!(message.contains(suggestion), "{project:?}: {message}");
    }
}

#[test]
fn values_of_another_kind_are_errors_that_name_the_place() {
    for project in [
        "[ranker]\ntoken_budget = -1",
        "[ranker]\ntoken_budget = '1'",
        "audiences = 'me'",
        "sources = 1",
    ] {
        let message = layers("", project, &[]).unwrap_err();
        assert!(
            message.contains("must be") && message.contains("casebook.toml"),
            "{message}"
        );
    }
    let message = layers("", "", &[("CASEBOOK_FILES_FOLLOW_LINKS", "perhaps")]).unwrap_err();
    assert!(
        message.contains("CASEBOOK_FILES_FOLLOW_LINKS must be true or false"),
        "{message}"
    );
}

#[test]
fn sources_are_read_in_order() {
    let text = "[[sources]]\npath = 'journal'\nlayer = 'immutable'\nkind = 'journal'\n[[sources]]\npath = 'notes'\nscope = 'user'";
    let files = project_of(&layers("", text, &[]).unwrap()).unwrap().files;
    assert_eq!(files.sources.len(), 2);
    assert_eq!(
        (files.sources[0].layer, files.sources[0].kind.as_str()),
        (Layer::Immutable, "journal")
    );
    assert_eq!(
        (files.sources[1].path.as_str(), files.sources[1].scope.as_str()),
        ("notes", "user")
    );
}

#[test]
fn wrong_sources_are_errors() {
    for (text, part) in [
        ("[[sources]]\nscope = 'user'", "path"),
        ("[[sources]]\npath = 'a'\nlayer = 'stone'", "layer"),
        ("[[sources]]\npath = 'a'\nscpe = 'x'", "did you mean scope?"),
        ("[[sources]]\npath = 1", "text values"),
    ] {
        let message = project_of(&layers("", text, &[]).unwrap()).unwrap_err();
        assert!(message.contains(part), "{text:?}: {message}");
    }
}

#[test]
fn every_key_has_a_default_to_show() {
    let project = project_of(&Layers::default()).unwrap();
    for key in KEYS {
        let file = toml::Table::from_iter([(key.name.to_owned(), default_of(key.name, &project))]).to_string();
        let shown = file.replace(&format!("\"{}\"", key.name), key.name);
        assert!(layers("", &shown, &[]).is_ok(), "{shown}");
    }
}
