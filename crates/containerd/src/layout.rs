//! The key of each setting in each configuration version, and how containerd moves keys to a newer version.
use crate::ConfigVersion;
use std::fmt;

/// The CRI plugin of version 2; later, only its stream server.
const CRI: &str = "io.containerd.grpc.v1.cri";
/// The part with images, since version 3.
const IMAGES: &str = "io.containerd.cri.v1.images";
/// The part with pods and runtimes, since version 3.
const RUNTIME: &str = "io.containerd.cri.v1.runtime";

/// A key of a TOML file, from the top.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(pub(crate) Vec<String>);

impl Key {
    pub(crate) fn of(steps: &[&str]) -> Self {
        Self(steps.iter().map(|&step| step.to_owned()).collect())
    }

    /// A key below this one.
    pub(crate) fn below(&self, steps: &[&str]) -> Self {
        Self(self.0.iter().cloned().chain(steps.iter().map(|&step| step.to_owned())).collect())
    }

    /// Whether it is this key or one below it.
    pub(crate) fn is_below(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }
}

/// As people write it: names of plugins in quotes.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_bare = |step: &str| step.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        for (index, step) in self.0.iter().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            match !step.is_empty() && is_bare(step) {
                true => write!(f, "{dot}{step}")?,
                false => write!(f, "{dot}\"{}\"", objects::one_line(step))?,
            }
        }
        Ok(())
    }
}

impl ConfigVersion {
    /// `root`, the directory with images and containers.
    pub(crate) fn data_root() -> Key {
        Key::of(&["root"])
    }

    pub(crate) fn sandbox_image(self) -> Key {
        match self {
            Self::V2 => Key::of(&["plugins", CRI, "sandbox_image"]),
            Self::V3 | Self::V4 => Key::of(&["plugins", IMAGES, "pinned_images", "sandbox"]),
        }
    }

    pub(crate) fn registry(self) -> Key {
        match self {
            Self::V2 => Key::of(&["plugins", CRI, "registry"]),
            Self::V3 | Self::V4 => Key::of(&["plugins", IMAGES, "registry"]),
        }
    }

    pub(crate) fn snapshotter(self) -> Key {
        match self {
            Self::V2 => Key::of(&["plugins", CRI, "containerd", "snapshotter"]),
            Self::V3 | Self::V4 => Key::of(&["plugins", IMAGES, "snapshotter"]),
        }
    }

    pub(crate) fn default_runtime(self) -> Key {
        self.of_runtimes("default_runtime_name")
    }

    /// All runtimes.
    pub(crate) fn runtimes(self) -> Key {
        self.of_runtimes("runtimes")
    }

    fn of_runtimes(self, name: &str) -> Key {
        match self {
            Self::V2 => Key::of(&["plugins", CRI, "containerd", name]),
            Self::V3 | Self::V4 => Key::of(&["plugins", RUNTIME, "containerd", name]),
        }
    }

    /// The tables that an imported file must not replace.
    pub(crate) fn tables(self) -> Vec<Key> {
        match self {
            Self::V2 => vec![Key::of(&["plugins", CRI])],
            Self::V3 | Self::V4 => vec![Key::of(&["plugins", IMAGES]), Key::of(&["plugins", RUNTIME])],
        }
    }

    /// The keys that have a field of their own, each with the field.
    pub(crate) fn fields(self) -> [(Key, &'static str); 5] {
        [
            (Self::data_root(), "dataRoot"),
            (self.sandbox_image(), "sandboxImage"),
            (self.registry(), "registries"),
            (self.snapshotter(), "snapshotter"),
            (self.default_runtime(), "defaultRuntime"),
        ]
    }
}

/// The plugins that are the CRI, under the names of all versions.
pub(crate) const CRI_PLUGINS: [&str; 4] = ["cri", CRI, IMAGES, RUNTIME];

/// A prefix of a key, and what a newer version has in its place.
type Move = (&'static [&'static str], &'static [&'static str]);

/// What containerd does with a file of version 2. The first prefix that fits is taken.
const TO_V3: &[Move] = &[
    (&["plugins", CRI, "sandbox_image"], &["plugins", IMAGES, "pinned_images", "sandbox"]),
    (&["plugins", CRI, "registry"], &["plugins", IMAGES, "registry"]),
    (&["plugins", CRI, "image_decryption"], &["plugins", IMAGES, "image_decryption"]),
    (&["plugins", CRI, "max_concurrent_downloads"], &["plugins", IMAGES, "max_concurrent_downloads"]),
    (&["plugins", CRI, "image_pull_progress_timeout"], &["plugins", IMAGES, "image_pull_progress_timeout"]),
    (&["plugins", CRI, "image_pull_with_sync_fs"], &["plugins", IMAGES, "image_pull_with_sync_fs"]),
    (&["plugins", CRI, "stats_collect_period"], &["plugins", IMAGES, "stats_collect_period"]),
    (&["plugins", CRI, "containerd", "snapshotter"], &["plugins", IMAGES, "snapshotter"]),
    (
        &["plugins", CRI, "containerd", "disable_snapshot_annotations"],
        &["plugins", IMAGES, "disable_snapshot_annotations"],
    ),
    (&["plugins", CRI, "containerd", "discard_unpacked_layers"], &["plugins", IMAGES, "discard_unpacked_layers"]),
    (&["plugins", CRI, "disable_tcp_service"], &["plugins", CRI, "disable_tcp_service"]),
    (&["plugins", CRI, "stream_server_address"], &["plugins", CRI, "stream_server_address"]),
    (&["plugins", CRI, "stream_server_port"], &["plugins", CRI, "stream_server_port"]),
    (&["plugins", CRI, "stream_idle_timeout"], &["plugins", CRI, "stream_idle_timeout"]),
    (&["plugins", CRI, "enable_tls_streaming"], &["plugins", CRI, "enable_tls_streaming"]),
    (&["plugins", CRI, "x509_key_pair_streaming"], &["plugins", CRI, "x509_key_pair_streaming"]),
    (&["plugins", CRI], &["plugins", RUNTIME]),
    (&["plugins", "io.containerd.internal.v1.restart"], &["plugins", "io.containerd.monitor.container.v1.restart"]),
    (&["plugins", "io.containerd.monitor.v1.cgroups"], &["plugins", "io.containerd.monitor.task.v1.cgroups"]),
];

/// What containerd does with a file of version 3.
const TO_V4: &[Move] = &[
    (&["grpc", "tcp_address"], &["plugins", "io.containerd.server.v1.grpc-tcp", "address"]),
    (&["grpc", "tcp_tls_ca"], &["plugins", "io.containerd.server.v1.grpc-tcp", "tls_ca"]),
    (&["grpc", "tcp_tls_cert"], &["plugins", "io.containerd.server.v1.grpc-tcp", "tls_cert"]),
    (&["grpc", "tcp_tls_key"], &["plugins", "io.containerd.server.v1.grpc-tcp", "tls_key"]),
    (&["grpc"], &["plugins", "io.containerd.server.v1.grpc"]),
    (&["ttrpc"], &["plugins", "io.containerd.server.v1.ttrpc"]),
    (&["debug", "address"], &["plugins", "io.containerd.server.v1.debug", "address"]),
    (&["debug", "uid"], &["plugins", "io.containerd.server.v1.debug", "uid"]),
    (&["debug", "gid"], &["plugins", "io.containerd.server.v1.debug", "gid"]),
    (&["metrics", "address"], &["plugins", "io.containerd.server.v1.metrics", "address"]),
    (&["metrics", "grpc_histogram"], &["plugins", "io.containerd.metrics.v1.grpc-prometheus", "grpc_histogram"]),
];

/// The key in a newer version, as containerd moves it.
pub(crate) fn moved(key: &Key, from: ConfigVersion, to: ConfigVersion) -> Key {
    let mut moved = key.clone();
    for (version, moves) in [(ConfigVersion::V2, TO_V3), (ConfigVersion::V3, TO_V4)] {
        if from <= version && to > version {
            moved = after(&moved, moves);
        }
    }
    moved
}

fn after(key: &Key, moves: &[Move]) -> Key {
    let fits = |old: &[&str]| key.0.len() >= old.len() && old.iter().zip(&key.0).all(|(old, step)| old == step);
    let Some((old, new)) = moves.iter().find(|(old, _)| fits(old)) else { return key.clone() };
    let rest: Vec<&str> = key.0[old.len()..].iter().map(String::as_str).collect();
    Key::of(new).below(&rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_version_2_moves_to_that_of_version_3() {
        let (old, new) = (ConfigVersion::V2, ConfigVersion::V3);
        for (key, moved_to) in old.fields().into_iter().zip(new.fields()) {
            assert_eq!(moved(&key.0, old, new), moved_to.0, "{}", key.1);
            assert_eq!(moved(&key.0, old, ConfigVersion::V4), moved_to.0, "{}", key.1);
        }
        let option = ["runc", "options", "SystemdCgroup"];
        assert_eq!(moved(&old.runtimes().below(&option), old, new), new.runtimes().below(&option));
    }

    #[test]
    fn servers_become_plugins_in_version_4_and_stay_before() {
        let key = Key::of(&["grpc", "address"]);
        assert_eq!(moved(&key, ConfigVersion::V2, ConfigVersion::V3), key);
        let server = Key::of(&["plugins", "io.containerd.server.v1.grpc", "address"]);
        assert_eq!(moved(&key, ConfigVersion::V2, ConfigVersion::V4), server);
        assert_eq!(moved(&server, ConfigVersion::V4, ConfigVersion::V4), server);
        let level = Key::of(&["debug", "level"]);
        assert_eq!(moved(&level, ConfigVersion::V3, ConfigVersion::V4), level);
    }

    #[test]
    fn a_key_reads_as_people_write_it() {
        let key = ConfigVersion::V3.registry().below(&["config_path"]);
        assert_eq!(key.to_string(), "plugins.\"io.containerd.cri.v1.images\".registry.config_path");
    }
}
