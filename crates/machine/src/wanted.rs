//! What the documents ask of a machine, taken together.
use documents::{
    AnyDocument, Decoded,
    v1alpha1::{Command, File, Init, Parameter, Proxy, TrustBundle},
};
use serde::{Deserialize, Serialize};

/// Where documents came from: a file, or the way into another document, as in `node.yaml#2 > sealed`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Its name.
    pub name: String,
    /// How many documents it gave.
    pub documents: usize,
}

/// What the documents ask of this machine, each list in the documents' order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// How many documents said so.
    pub documents: usize,
    /// Where they came from, in their order.
    pub sources: Vec<Provenance>,
    /// Certificates to trust.
    pub trust: Vec<TrustBundle>,
    /// Proxies for services.
    pub proxies: Vec<Proxy>,
    /// Kernel modules to load.
    pub modules: Vec<String>,
    /// Kernel parameters to hold.
    pub parameters: Vec<Parameter>,
    /// Files to write.
    pub files: Vec<File>,
    /// Commands to run before the machine becomes a node.
    pub commands: Vec<Command>,
    /// Commands to run after it has become one: those behind the InitConfig.
    pub late_commands: Vec<Command>,
    /// The cluster to begin.
    pub init: Option<Box<Init>>,
}

impl Machine {
    /// Gathers what decoded documents ask.
    pub fn of(documents: Vec<Decoded>) -> Self {
        let mut machine = Self { documents: documents.len(), ..Self::default() };
        for document in documents {
            machine.note_source(&document.origin.source);
            machine.add(document.body);
        }
        machine
    }

    fn note_source(&mut self, name: &str) {
        match self.sources.iter_mut().find(|known| known.name == name) {
            Some(known) => known.documents += 1,
            None => self.sources.push(Provenance { name: name.to_owned(), documents: 1 }),
        }
    }

    fn add(&mut self, body: AnyDocument) {
        match body {
            AnyDocument::TrustBundle(bundle) => self.trust.push(bundle),
            AnyDocument::Proxy(proxy) => self.proxies.push(proxy),
            AnyDocument::KernelModules(modules) => {
                let new = modules.into_iter().filter(|module| !self.modules.contains(module)).collect::<Vec<_>>();
                self.modules.extend(new);
            }
            AnyDocument::Sysctl(parameters) => {
                for parameter in parameters {
                    if !self.parameters.iter().any(|known| known.path == parameter.path) {
                        self.parameters.push(parameter);
                    }
                }
            }
            AnyDocument::Files(files) => self.files.extend(files),
            AnyDocument::Commands(commands) if self.init.is_some() => self.late_commands.extend(commands),
            AnyDocument::Commands(commands) => self.commands.extend(commands),
            AnyDocument::Init(init) => self.init = Some(init),
            // Refused, since there are no plugins yet.
            AnyDocument::Foreign(_) => {}
            // Others stand in their place by now.
            AnyDocument::Remote(_) | AnyDocument::Encrypted(_) | AnyDocument::Scope(_) => {}
        }
    }
}
