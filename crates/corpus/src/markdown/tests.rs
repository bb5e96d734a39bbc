use super::*;

fn read(path: &str, text: &str) -> Resource {
    Resource::from_markdown(path, text, &SourceDecl::default()).unwrap()
}

#[test]
fn the_title_is_what_names_the_text_best() {
    let check = |text: &str, expected: &str| assert_eq!(read("a/b.c.md", text).meta.title, expected, "{text:?}");
    check("---\ntitle: 前言\n---\n# Heading\n", "前言");
    check("---\ntitle: ''\n---\n# Heading\n", "Heading");
    check("text\n\n# 索引 重建 ##\n# Second\n", "索引 重建");
    check("## Two\n### Three\n", "b.c");
    check("", "b.c");
    check("#\n#no heading\n#\tTab\n", "Tab");
    check("# C#\n", "C#");
    check("   # Three spaces\n", "Three spaces");
    check("    # Code\n", "b.c");
    check("```\n# Code\n```\n# Text\n", "Text");
    check("~~~ sh\n# Code\n```\n# Code\n~~~~\n# Text\n", "Text");
    check("```\n# Code\n", "b.c");
    check("```a`b\n# Text\n", "Text");
    check("Set *this*\r\n=====\r\n", "Set this");
    check("\n=====\n# Text\n", "Text");
    check(
        "# Use `casebook` with [the **index**](a.md) ![logo](l.png) [x]\n",
        "Use casebook with the index logo [x]",
    );
    check(&format!("# {}\n", "长".repeat(300)), &"长".repeat(MAX_TITLE_CHARS));
}

#[test]
fn the_body_is_found_behind_mark_and_front_matter() {
    let check = |text: &str, byte_offset: usize, first_line: usize, body: &str| {
        let resource = read("a.md", text);
        assert_eq!(
            resource.meta.body_span,
            BodySpan {
                byte_offset,
                first_line
            },
            "{text:?}"
        );
        assert_eq!(resource.body, body, "{text:?}");
    };
    check("a\r\nb\0🙂", 0, 1, "a\r\nb\0🙂");
    check("\u{feff}# 标题\n", 3, 1, "# 标题\n");
    check("\u{feff}---\r\nid: x\r\n---\r\nbody", 20, 4, "body");
    check("---\n- list\n---\nbody", 0, 1, "---\n- list\n---\nbody");
    check("---\nid: x\n---", 13, 3, "");
}

#[test]
fn the_id_is_the_path_in_nfc_unless_one_is_given() {
    let decomposed = "cafe\u{301}/说明.md";
    let resource = read(decomposed, "text");
    assert_eq!(resource.meta.id.as_str(), "caf\u{e9}/说明.md");
    assert_eq!(resource.meta.path, "caf\u{e9}/说明.md");
    assert_eq!(resource.meta.disk_path.as_deref(), Some(decomposed));
    let named = read("a.md", "---\nid: own\n---\n");
    assert_eq!((named.meta.id.as_str(), named.meta.disk_path), ("own", None));
}

#[test]
fn what_is_not_said_comes_from_the_source() {
    let decl = SourceDecl {
        path: "journal".to_owned(),
        scope: "team".into(),
        layer: crate::Layer::Immutable,
        kind: "journal".to_owned(),
    };
    let plain = Resource::from_markdown("journal/a.md", "a", &decl).unwrap().meta;
    assert_eq!(
        (plain.scope.as_str(), plain.kind.as_str(), plain.layer),
        ("team", "journal", crate::Layer::Immutable)
    );
    let text = "---\nscope: user\nkind: state\nlayer: mutable\n---\n";
    let own = Resource::from_markdown("journal/a.md", text, &decl).unwrap().meta;
    assert_eq!(
        (own.scope.as_str(), own.kind.as_str(), own.layer),
        ("user", "state", crate::Layer::Mutable)
    );
    assert_ne!(plain.content_hash, own.content_hash);
}
