//! Every document kind, in one table: a new kind is its own file and a row here.
use crate::{
    Claim, Document, Foreign,
    decode::decode,
    document::{Body, Check, closed::Closed},
    findings::Findings,
    metadata::{Header, Metadata},
    tree::Node,
    v1alpha1::{
        Accounts, Command, CommandsConfig, Containerd, ContainerdConfig, ControlPlane, ControlPlaneConfig, Encrypted,
        EncryptedConfig, FilesConfig, Init, InitConfig, Join, JoinConfig, KernelModulesConfig, Parameter, PathEntry,
        Programs, ProgramsConfig, Proxy, ProxyConfig, Remote, RemoteConfig, ReportConfig, Reporting, Scope,
        ScopeConfig, ServicesConfig, StaticPod, StaticPodsConfig, SysctlConfig, TrustBundle, TrustBundleConfig, Unit,
        UsersConfig,
    },
};
use schemars::generate::SchemaSettings;
use serde_json::json;
use std::fmt;

/// Makes of the table what has to list every kind: the rows themselves, and what a document of any kind asks for.
macro_rules! kinds {
    ($($config:ident => $variant:ident($checked:ty)),+ $(,)?) => {
        /// The kinds machineadm knows.
        pub const KINDS: &[Kind] = &[$(kind::<$config>()),+];

        /// What a document of any kind asks for.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum AnyDocument {
            $(#[doc = concat!(stringify!($config), ".")] $variant($checked),)+
            /// A document of another group.
            Foreign(Foreign),
        }

        impl AnyDocument {
            /// Group and version of the document's kind.
            pub fn api_version(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $config::API_VERSION,)+
                    Self::Foreign(foreign) => &foreign.api_version,
                }
            }
        }

        impl From<Foreign> for AnyDocument {
            fn from(foreign: Foreign) -> Self {
                Self::Foreign(foreign)
            }
        }

        $(impl Closed for $config {})+

        $(impl From<$checked> for AnyDocument {
            fn from(checked: $checked) -> Self {
                Self::$variant(checked)
            }
        })+

        impl Body for AnyDocument {
            fn secrets(&self) -> Vec<&[u8]> {
                match self { $(Self::$variant(checked) => checked.secrets(),)+ Self::Foreign(foreign) => foreign.secrets() }
            }

            fn confidential(&self) -> Vec<&[u8]> {
                match self {
                    $(Self::$variant(checked) => checked.confidential(),)+
                    Self::Foreign(foreign) => foreign.confidential(),
                }
            }

            fn claims<'a>(&'a self, name: Option<&'a str>) -> Vec<Claim<'a>> {
                match self {
                    $(Self::$variant(checked) => checked.claims(name),)+
                    Self::Foreign(foreign) => foreign.claims(name),
                }
            }

            fn conceal(&mut self) {
                match self { $(Self::$variant(checked) => checked.conceal(),)+ Self::Foreign(foreign) => foreign.conceal() }
            }
        }
    };
}

kinds! {
    FilesConfig => Files(Vec<PathEntry>),
    SysctlConfig => Sysctl(Vec<Parameter>),
    KernelModulesConfig => KernelModules(Vec<String>),
    CommandsConfig => Commands(Vec<Command>),
    TrustBundleConfig => TrustBundle(TrustBundle),
    ProxyConfig => Proxy(Proxy),
    ProgramsConfig => Programs(Box<Programs>),
    ContainerdConfig => Containerd(Box<Containerd>),
    ServicesConfig => Services(Vec<Unit>),
    UsersConfig => Users(Accounts),
    ControlPlaneConfig => ControlPlane(Box<ControlPlane>),
    StaticPodsConfig => StaticPods(Vec<StaticPod>),
    InitConfig => Init(Box<Init>),
    JoinConfig => Join(Box<Join>),
    ReportConfig => Report(Box<Reporting>),
    RemoteConfig => Remote(Box<Remote>),
    EncryptedConfig => Encrypted(Box<Encrypted>),
    ScopeConfig => Scope(Box<Scope>),
}

/// One row of the table.
pub struct Kind {
    /// Group and version.
    pub api_version: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// What it is for, in one line.
    pub summary: &'static str,
    /// A whole document as people write it.
    pub example: &'static str,
    /// The JSON schema of a whole document.
    pub schema: fn() -> serde_json::Value,
    pub(crate) decode: fn(&Node, &mut Findings<'_>) -> Option<Content>,
    /// Reads a document and writes it again.
    #[cfg(test)]
    pub(crate) rewritten: fn(&Node) -> Option<crate::Secret<String>>,
}

/// A document's metadata and what it asks for.
pub(crate) type Content = (Header, AnyDocument);

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, Kind={}", self.api_version, self.kind)
    }
}

const fn kind<D: Check>() -> Kind {
    Kind {
        api_version: D::API_VERSION,
        kind: D::KIND,
        summary: D::SUMMARY,
        example: D::EXAMPLE,
        schema: schema_of::<D>,
        decode: decode_as::<D>,
        #[cfg(test)]
        rewritten: rewritten::<D>,
    }
}

fn schema_of<D: Check>() -> serde_json::Value {
    // Draft 7, with nothing referred to by name: what editors understand best.
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let mut generator = settings.into_generator();
    json!({
        "title": D::KIND,
        "description": D::SUMMARY,
        "type": "object",
        "required": ["apiVersion", "kind", "spec"],
        "additionalProperties": false,
        "properties": {
            "apiVersion": {"type": "string", "const": D::API_VERSION, "description": "The API's group and version."},
            "kind": {"type": "string", "const": D::KIND, "description": "What kind of document this is."},
            "metadata": generator.subschema_for::<Option<Metadata>>(),
            "spec": generator.subschema_for::<D>(),
        },
    })
}

fn decode_as<D: Check>(root: &Node, findings: &mut Findings<'_>) -> Option<Content> {
    let metadata = root.get("metadata").map_or(Ok(Metadata::default()), decode::<Metadata>);
    let (Ok(metadata), Some(Ok(spec))) = (metadata, root.get("spec").map(decode::<D>)) else {
        findings.error("", format!("cannot be read as {}", D::KIND));
        return None;
    };
    let header = metadata.check(findings);
    let checked = spec.check(header.name.as_deref(), findings);
    Some((header, checked.into()))
}

#[cfg(test)]
fn rewritten<D: Check>(root: &Node) -> Option<crate::Secret<String>> {
    let name = root.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Node::text);
    Some(crate::write(name, &decode::<D>(root.get("spec")?).ok()?))
}

#[cfg(test)]
mod tests {
    use super::KINDS;
    use std::collections::HashSet;

    #[test]
    fn each_kind_is_listed_once() {
        let names: HashSet<_> = KINDS.iter().map(|known| (known.api_version, known.kind)).collect();
        assert_eq!(names.len(), KINDS.len());
    }

    #[test]
    fn every_example_is_of_its_kind() {
        for known in KINDS {
            let head = format!("apiVersion: {}\nkind: {}\n", known.api_version, known.kind);
            assert!(known.example.starts_with(&head), "{}", known.kind);
        }
    }
}
