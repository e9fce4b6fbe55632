//! A kubeconfig that holds ClusterInfo, byte for byte, together with what it says.
use super::{ClusterInfo, Origin, Problem, read};
use objects::{SMALL_FILE_LIMIT, kubeconfig};
use serde::{Deserialize, Serialize};

/// A kubeconfig that holds ClusterInfo and nothing else, as cluster-info shows it and as it is saved. What it says was
/// read once, when it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DiscoveryKubeconfig {
    text: String,
    info: ClusterInfo,
}

impl DiscoveryKubeconfig {
    /// Reads the kubeconfig of a cluster-info, or one that was saved.
    pub fn read(text: String) -> Result<Self, Vec<Problem>> {
        let info = read(text.as_bytes(), Origin::Signed)?.info;
        Ok(Self { text, info })
    }

    /// The kubeconfig that kubeadm would write. With large roots it may be more than anybody reads.
    pub fn of(info: ClusterInfo) -> Result<Self, Problem> {
        let text = info.kubeconfig();
        match text.len() > SMALL_FILE_LIMIT {
            true => Err(Problem::Form(kubeconfig::Problem::TooLarge)),
            false => Ok(Self { text, info }),
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it says.
    pub fn info(&self) -> &ClusterInfo {
        &self.info
    }
}

impl From<DiscoveryKubeconfig> for String {
    fn from(kubeconfig: DiscoveryKubeconfig) -> Self {
        kubeconfig.text
    }
}

impl TryFrom<String> for DiscoveryKubeconfig {
    type Error = &'static str;

    /// What is wrong is not told: who reads what was saved has no use for it.
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::read(text).map_err(|_| "is not a kubeconfig with one cluster and nothing else")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::CaBundle;

    const CA: &[u8] = include_bytes!("../../tests/vectors/real/pki/ca.crt");

    #[test]
    fn it_keeps_its_bytes_and_says_what_they_say() {
        let text = "clusters: [{cluster: {server: 'https://a'}}] # mine\n".to_owned();
        let read = DiscoveryKubeconfig::read(text.clone()).unwrap();
        assert_eq!((read.text(), read.info().server()), (text.as_str(), "https://a"));
        let json = serde_json::to_string(&read).unwrap();
        assert_eq!(serde_json::from_str::<DiscoveryKubeconfig>(&json).unwrap(), read);
        assert!(serde_json::from_str::<DiscoveryKubeconfig>("\"x\"").is_err());
    }

    #[test]
    fn what_we_write_is_what_we_read_and_never_more_than_that() {
        let of = |times| {
            let roots = CaBundle::read(CA.repeat(times)).unwrap();
            DiscoveryKubeconfig::of(ClusterInfo::new("https://a".to_owned(), roots, None).unwrap())
        };
        let (fits, most) = (of(1).unwrap(), SMALL_FILE_LIMIT / CA.len());
        assert_eq!(DiscoveryKubeconfig::read(fits.text().to_owned()), Ok(fits));
        assert_eq!(of(most), Err(Problem::Form(kubeconfig::Problem::TooLarge)));
    }
}
