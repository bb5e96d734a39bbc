//! Who may see a resource: one predicate, so that every guard that applies it agrees.

use crate::ResourceMeta;

/// Returns whether someone who belongs to these audiences may see the resource.
///
/// A resource that names audiences is seen by those alone, whatever its sensitivity. One that only carries a
/// sensitivity label is seen by those who hold the label as an audience. One with neither is seen by everyone.
pub fn visible(meta: &ResourceMeta, audiences: &[String]) -> bool {
    match &meta.sensitivity {
        _ if !meta.audience.is_empty() => meta.audience.iter().any(|audience| audiences.contains(audience)),
        Some(label) => audiences.contains(label),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Resource, SourceDecl};

    #[test]
    fn audience_and_sensitivity_decide_who_sees() {
        let check = |front: &str, audiences: &[&str], expected: bool| {
            let text = format!("---\n{front}\n---\n");
            let resource = Resource::from_markdown("a.md", &text, &SourceDecl::default()).unwrap();
            let audiences: Vec<_> = audiences.iter().map(|&audience| audience.to_owned()).collect();
            assert_eq!(visible(&resource.meta, &audiences), expected, "{front} {audiences:?}");
        };
        check("", &[], true);
        check("audience: [ops, 财务]", &[], false);
        check("audience: [ops, 财务]", &["dev", "财务"], true);
        check("audience: ops", &["op", "ops2"], false);
        check("sensitivity: secret", &[], false);
        check("sensitivity: secret", &["secret"], true);
        check("{sensitivity: secret, audience: ops}", &["secret"], false);
        check("{sensitivity: secret, audience: ops}", &["ops"], true);
    }
}
