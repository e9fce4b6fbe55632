//! A fake network and fake files: they answer as a test says, and remember what they were asked.
use machineadm_discovery::{
    BootstrapToken, ClusterInfo, DiscoveryKubeconfig, Endpoint, Pin,
    certificate::{CaBundle, Certificate},
    cluster_info::{KUBECONFIG_KEY, SIGNATURE_PREFIX},
    jws,
    method::{Cause, Event, Files, Network, Roots, Unreached},
};
use objects::ConfigMap;
use std::{collections::BTreeMap, time::Duration};

pub(crate) const CA: &[u8] = include_bytes!("../vectors/real/pki/ca.crt");
pub(crate) const OTHER_CA: &[u8] = include_bytes!("../vectors/real/pki/etcd/ca.crt");
pub(crate) const TOKEN: &str = "ae23dc.faddc87f5a5ab458";

pub(crate) fn token() -> BootstrapToken {
    TOKEN.parse().unwrap()
}

pub(crate) fn pin(pem: &[u8]) -> Pin {
    Pin::of(&roots(pem).certificates()[0])
}

pub(crate) fn roots(pem: &[u8]) -> CaBundle {
    if pem.is_empty() { CaBundle::default() } else { CaBundle::read(pem.to_vec()).unwrap() }
}

pub(crate) fn info(server: &str, pem: &[u8]) -> ClusterInfo {
    ClusterInfo::new(server.to_owned(), roots(pem), None).unwrap()
}

pub(crate) fn kubeconfig(info: &ClusterInfo) -> DiscoveryKubeconfig {
    DiscoveryKubeconfig::of(info.clone()).unwrap()
}

/// Certificates as one text.
pub(crate) fn text(certificates: &[Certificate]) -> String {
    certificates.iter().map(Certificate::pem).collect()
}

pub(crate) fn real_info() -> ClusterInfo {
    info("https://api.example.com:6443", CA)
}

/// cluster-info with this kubeconfig, signed by this token.
pub(crate) fn signed(kubeconfig: &str, token: &BootstrapToken) -> Vec<u8> {
    with_signature(kubeconfig, &jws::sign(token, kubeconfig.as_bytes()))
}

pub(crate) fn with_signature(kubeconfig: &str, signature: &str) -> Vec<u8> {
    let mut config_map = real_info().config_map();
    config_map.data.insert(KUBECONFIG_KEY.to_owned(), kubeconfig.to_owned());
    config_map.data.insert(format!("{SIGNATURE_PREFIX}ae23dc"), signature.to_owned());
    serde_json::to_vec(&config_map).unwrap()
}

pub(crate) fn good() -> Vec<u8> {
    signed(&real_info().kubeconfig(), &token())
}

pub(crate) fn unreached(text: &str, status: Option<u16>) -> Unreached {
    Unreached { text: text.to_owned(), cause: status.map_or(Cause::Other, Cause::Status) }
}

pub(crate) fn refused() -> Unreached {
    Unreached { text: "connection refused".to_owned(), cause: Cause::Refused }
}

pub(crate) fn untrusted() -> Unreached {
    Unreached { text: "the certificate is not trusted".to_owned(), cause: Cause::UntrustedCertificate }
}

/// What it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) place: String,
    pub(crate) server_name: String,
    pub(crate) roots: String,
    pub(crate) within: Duration,
}

type Answers<'a> = Box<dyn FnMut(&str, Roots<'_>, usize) -> Result<Vec<u8>, Unreached> + 'a>;

/// A network that answers by place, roots, and how many pauses there were.
pub(crate) struct FakeNetwork<'a> {
    answers: Answers<'a>,
    pub(crate) asked: Vec<Asked>,
    pub(crate) pauses: usize,
    pub(crate) told: Vec<String>,
    /// How long a question takes, unless it is given less.
    pub(crate) slow: Duration,
    clock: Duration,
}

impl<'a> FakeNetwork<'a> {
    pub(crate) fn new(answers: impl FnMut(&str, Roots<'_>, usize) -> Result<Vec<u8>, Unreached> + 'a) -> Self {
        let (asked, told) = (Vec::new(), Vec::new());
        Self {
            answers: Box::new(answers),
            asked,
            pauses: 0,
            told,
            slow: Duration::ZERO,
            clock: Duration::from_secs(1000),
        }
    }

    fn ask(
        &mut self,
        place: &str,
        server_name: String,
        roots: Roots<'_>,
        within: Duration,
    ) -> Result<Vec<u8>, Unreached> {
        let shown = match roots {
            Roots::Unverified => "unverified".to_owned(),
            Roots::System => "system".to_owned(),
            Roots::Only(certificates) => text(certificates),
        };
        let answer = (self.answers)(place, roots, self.pauses);
        self.asked.push(Asked { place: place.to_owned(), server_name, roots: shown, within });
        self.clock += self.slow.min(within);
        if self.slow > within { Err(unreached("took too long", None)) } else { answer }
    }
}

impl Network for FakeNetwork<'_> {
    fn cluster_info(
        &mut self,
        endpoint: &Endpoint,
        roots: Roots<'_>,
        within: Duration,
    ) -> Result<ConfigMap, Unreached> {
        let body = self.ask(&endpoint.to_string(), endpoint.server_name(), roots, within)?;
        serde_json::from_slice(&body).map_err(|_| unreached("not a ConfigMap", None))
    }

    fn document(&mut self, url: &str, within: Duration) -> Result<Vec<u8>, Unreached> {
        self.ask(url, String::new(), Roots::System, within)
    }

    fn elapsed(&self) -> Duration {
        self.clock
    }

    fn pause(&mut self, time: Duration) {
        self.pauses += 1;
        self.clock += time;
    }

    fn tell(&mut self, event: Event<'_>) {
        self.told.push(format!("{event:?}"));
    }
}

/// Files by path; `-` is standard input.
#[derive(Default)]
pub(crate) struct FakeFiles(pub(crate) BTreeMap<&'static str, Vec<u8>>);

impl Files for FakeFiles {
    fn file(&mut self, path: &str) -> Result<Vec<u8>, String> {
        self.0.get(path).cloned().ok_or_else(|| "no such file".to_owned())
    }

    fn standard_input(&mut self) -> Result<Vec<u8>, String> {
        self.file("-")
    }
}
