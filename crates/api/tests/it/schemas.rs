//! `schemas/` is what the wire types say.

use std::path::Path;

#[test]
fn the_published_schemas_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    let schemas = casebook_api::wire::schemas();
    for (name, schema) in &schemas {
        let file = folder.join(format!("{name}.schema.json"));
        let expected = serde_json::to_string_pretty(schema).unwrap() + "\n";
        if std::env::var_os("UPDATE_GENERATED").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &expected).unwrap();
        }
        let found = std::fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(found, expected, "{name} is out of date; `just generate` writes it");
    }
    let files = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(files, schemas.len(), "schemas/ holds a file that no type stands behind");
}

/// Clients validate with checkers that know only the standard formats.
#[test]
fn no_schema_uses_a_number_format_of_our_language() {
    for (name, schema) in casebook_api::wire::schemas() {
        let text = serde_json::to_string(&schema).unwrap();
        for format in ["uint", "uint8", "uint32", "uint64", "float", "double", "int64"] {
            assert!(
                !text.contains(&format!("\"format\":\"{format}\"")),
                "{name} has format {format}"
            );
        }
    }
}
