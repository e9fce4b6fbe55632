//! All documents of a cluster, converted together for one Kubernetes version.
use crate::{
    aside::{Aside, Flag, Loss, Note, Since},
    fit::fit,
    hub::{self, Documents},
    kind::Kind,
    render,
    spoke::Spoke,
    target::Target,
    v1, v1beta1, v1beta2, v1beta3, v1beta4,
    version::ApiVersion,
};
use serde::Serialize;
use serde_json::Value;

/// What came out for one Kubernetes version.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Converted {
    /// The documents, in the order in which kubeadm prints them.
    pub documents: Vec<WireDocument>,
    /// What the file can't say and this kubeadm takes on its command line.
    pub flags: Vec<Flag>,
    /// What this kubeadm can't be told.
    pub losses: Vec<Loss>,
    /// What is said in another way, without a loss.
    pub notes: Vec<Note>,
}

impl Converted {
    /// The file for kubeadm; it holds tokens and keys, so it is secret.
    pub fn yaml(&self) -> String {
        render::yaml_stream(self.documents.iter().map(|document| &document.value))
    }
}

/// A document in the form of one kubeadm API version. It may hold secrets, so `Debug` shows only what it is.
#[derive(Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct WireDocument {
    /// Its kind.
    #[serde(skip)]
    pub kind: Kind,
    /// The whole document, `apiVersion` and `kind` included.
    pub value: Value,
}

impl Drop for WireDocument {
    fn drop(&mut self) {
        objects::wipe(&mut self.value);
    }
}

impl std::fmt::Debug for WireDocument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WireDocument({})", self.kind)
    }
}

/// Converts for one Kubernetes version.
pub fn convert(documents: &Documents, target: &Target) -> Converted {
    let mut aside = Aside::new(target.minor());
    let mut documents = documents.clone();
    fit(&mut documents, target, &mut aside);
    let mut writer = Writer { api: target.api(), aside, documents: Vec::new() };
    writer.write(&documents);
    let Writer { aside: Aside { flags, losses, notes, .. }, documents, .. } = writer;
    Converted { documents, flags, losses, notes }
}

struct Writer {
    api: ApiVersion,
    aside: Aside,
    documents: Vec<WireDocument>,
}

impl Writer {
    fn write(&mut self, documents: &Documents) {
        let Documents { cluster, init, join, reset, upgrade, cluster_status } = documents;
        if let Some(init) = init {
            self.init(init);
        }
        if let Some(cluster) = cluster {
            self.cluster(cluster);
        }
        if let Some(join) = join {
            self.join(join);
        }
        if let Some(reset) = reset {
            self.reset(reset);
        }
        if let Some(upgrade) = upgrade {
            self.upgrade(upgrade);
        }
        if let Some(status) = cluster_status {
            self.status(status);
        }
    }

    fn init(&mut self, init: &hub::InitConfiguration) {
        const KIND: Kind = Kind::InitConfiguration;
        match self.api {
            ApiVersion::V1Beta1 => self.put::<_, v1beta1::InitConfiguration>(KIND, init),
            ApiVersion::V1Beta2 => self.put::<_, v1beta2::InitConfiguration>(KIND, init),
            ApiVersion::V1Beta3 => self.put::<_, v1beta3::InitConfiguration>(KIND, init),
            ApiVersion::V1Beta4 => self.put::<_, v1beta4::InitConfiguration<v1beta4::Arg>>(KIND, init),
            ApiVersion::V1 => self.put::<_, v1::InitConfiguration>(KIND, init),
        }
    }

    fn cluster(&mut self, cluster: &hub::ClusterConfiguration) {
        const KIND: Kind = Kind::ClusterConfiguration;
        match self.api {
            ApiVersion::V1Beta1 => self.put::<_, v1beta1::ClusterConfiguration>(KIND, cluster),
            ApiVersion::V1Beta2 => self.put::<_, v1beta2::ClusterConfiguration>(KIND, cluster),
            ApiVersion::V1Beta3 => self.put::<_, v1beta3::ClusterConfiguration>(KIND, cluster),
            ApiVersion::V1Beta4 => self.put::<_, v1beta4::ClusterConfiguration<v1beta4::Arg>>(KIND, cluster),
            ApiVersion::V1 => self.put::<_, v1::ClusterConfiguration>(KIND, cluster),
        }
    }

    fn join(&mut self, join: &hub::JoinConfiguration) {
        const KIND: Kind = Kind::JoinConfiguration;
        match self.api {
            ApiVersion::V1Beta1 => self.put::<_, v1beta1::JoinConfiguration>(KIND, join),
            ApiVersion::V1Beta2 => self.put::<_, v1beta2::JoinConfiguration>(KIND, join),
            ApiVersion::V1Beta3 => self.put::<_, v1beta3::JoinConfiguration>(KIND, join),
            ApiVersion::V1Beta4 => self.put::<_, v1beta4::JoinConfiguration<v1beta4::Arg>>(KIND, join),
            ApiVersion::V1 => self.put::<_, v1::JoinConfiguration>(KIND, join),
        }
    }

    fn reset(&mut self, reset: &hub::ResetConfiguration) {
        const KIND: Kind = Kind::ResetConfiguration;
        match self.api {
            ApiVersion::V1Beta1 | ApiVersion::V1Beta2 | ApiVersion::V1Beta3 => self.no_document_before_v1beta4(KIND),
            ApiVersion::V1Beta4 => self.put::<_, v1beta4::ResetConfiguration>(KIND, reset),
            ApiVersion::V1 => self.put::<_, v1::ResetConfiguration>(KIND, reset),
        }
    }

    fn upgrade(&mut self, upgrade: &hub::UpgradeConfiguration) {
        const KIND: Kind = Kind::UpgradeConfiguration;
        match self.api {
            ApiVersion::V1Beta1 | ApiVersion::V1Beta2 | ApiVersion::V1Beta3 => self.no_document_before_v1beta4(KIND),
            ApiVersion::V1Beta4 => self.put::<_, v1beta4::UpgradeConfiguration>(KIND, upgrade),
            ApiVersion::V1 => self.put::<_, v1::UpgradeConfiguration>(KIND, upgrade),
        }
    }

    /// There are only flags of `kubeadm reset` and `kubeadm upgrade`, which take no file.
    fn no_document_before_v1beta4(&mut self, kind: Kind) {
        self.aside.within(kind.name(), |aside| aside.lose("(the whole document)", Since::V1BETA4));
    }

    fn status(&mut self, status: &hub::ClusterStatus) {
        if Kind::ClusterStatus.is_in(self.api) {
            return self.put::<_, v1beta2::ClusterStatus>(Kind::ClusterStatus, status);
        }
        self.aside.within(Kind::ClusterStatus.name(), |aside| aside.lose_old("(the whole document)", 21));
    }

    fn put<H, S: Spoke<H> + Serialize>(&mut self, kind: Kind, hub: &H) {
        let spoke = self.aside.within(kind.name(), |aside| S::from_hub(hub, aside));
        // Our own structures have text for keys and no numbers that JSON lacks: this can't fail.
        let mut value = serde_json::to_value(&spoke).unwrap_or_default();
        if let Some(members) = value.as_object_mut() {
            members.insert("apiVersion".to_owned(), self.api.to_string().into());
            members.insert("kind".to_owned(), kind.name().into());
        }
        self.documents.push(WireDocument { kind, value });
    }
}
