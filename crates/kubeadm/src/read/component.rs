//! The documents that kubeadm passes on: to which component. Their text is left alone.
use objects::component_fields::{self, FieldProblem, Step};

/// A component with a document of its own.
pub(super) struct Component {
    pub(super) group: &'static str,
    pub(super) kind: &'static str,
    /// Whose fields the document has.
    pub(super) fields: component_fields::Component,
}

/// Every component that kubeadm passes a document on to.
const COMPONENTS: &[Component] = &[
    Component {
        group: "kubelet.config.k8s.io",
        kind: "KubeletConfiguration",
        fields: component_fields::Component::Kubelet,
    },
    Component {
        group: "kubeproxy.config.k8s.io",
        kind: "KubeProxyConfiguration",
        fields: component_fields::Component::KubeProxy,
    },
];

/// The component whose document this is.
pub(super) fn component(group: &str, kind: &str) -> Option<&'static Component> {
    COMPONENTS.iter().find(|component| component.group == group && component.kind == kind)
}

impl Component {
    /// The path of a field's problem, beginning with the kind: names that hold dots stand in brackets.
    pub(super) fn path(&self, problem: &FieldProblem) -> String {
        problem.path.iter().fold(self.kind.to_owned(), |parent, step| match step {
            Step::Item(index) => format!("{parent}[{index}]"),
            Step::Member(name) if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) => {
                format!("{parent}.{name}")
            }
            Step::Member(name) => format!("{parent}[{name}]"),
        })
    }
}
