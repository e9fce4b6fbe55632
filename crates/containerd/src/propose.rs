//! The proposal: the new text of config.toml and the files of registries, or every reason against it.
use crate::{
    CERTS_DIR, ConfigVersion, Problem, RegistryFile, Settings, Version,
    convert::{converted, exists_already},
    edit::{NotATable, get, is_same, remove, set, text},
    extra,
    headers::with_spelling_of,
    hosts::registry_files,
    layout::{CRI_PLUGINS, Key},
    runtimes,
};
use std::collections::BTreeSet;
use toml_edit::{DocumentMut, Item, Value};

/// What a machine has.
#[derive(Clone, Debug)]
pub struct Seen<'a> {
    /// The installed containerd.
    pub version: Version,
    /// Where its configuration is.
    pub config_path: &'a str,
    /// The text of its configuration, if there is one.
    pub config: Option<&'a str>,
    /// The files that it imports.
    pub imports: &'a [ImportedFile],
    /// The directories below [`CERTS_DIR`] that have a hosts.toml.
    pub hosts: &'a BTreeSet<String>,
}

/// A file that a configuration imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedFile {
    /// Absolute path.
    pub path: String,
    /// All of it.
    pub text: String,
}

/// What to write.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The new text of config.toml.
    pub config: String,
    /// Files below [`CERTS_DIR`], in the order in which they have to be written, before config.toml.
    pub files: Vec<RegistryFile>,
    /// Everything that `containerd config dump` must show.
    pub expected: Vec<Expected>,
    pub(crate) version: ConfigVersion,
}

/// A value that containerd must have understood.
#[derive(Clone, Debug)]
pub struct Expected {
    pub(crate) key: Key,
    pub(crate) value: Value,
    /// The field that asks for it.
    pub field: &'static str,
}

/// containerd's own directory for images and containers.
const DEFAULT_ROOT: &str = "/var/lib/containerd";

/// The directory with images and containers, by a configuration.
pub fn data_root(config: Option<&str>) -> String {
    let document = config.unwrap_or_default().parse::<DocumentMut>().unwrap_or_default();
    let root = text(&document, &ConfigVersion::data_root()).filter(|root| !root.is_empty());
    root.unwrap_or(DEFAULT_ROOT).to_owned()
}

/// What to write so that containerd is configured as wanted. It changes only what the settings name.
pub fn propose(settings: &Settings, seen: &Seen<'_>) -> Result<Proposal, Vec<Problem>> {
    let mut draft = Draft::open(seen).map_err(|problem| vec![problem])?;
    draft.check_plugins();
    draft.check_imports();
    draft.settings(settings);
    draft.registries(settings);
    draft.extra(settings);
    draft.finish()
}

struct Draft<'a> {
    seen: &'a Seen<'a>,
    document: DocumentMut,
    version: ConfigVersion,
    files: Vec<RegistryFile>,
    expected: Vec<Expected>,
    problems: Vec<Problem>,
}

impl<'a> Draft<'a> {
    fn open(seen: &'a Seen<'a>) -> Result<Self, Problem> {
        let path = seen.config_path;
        let of_file = |message: String| Problem::of_machine(format!("{path} {message}"));
        let parsed = seen.config.unwrap_or_default().parse::<DocumentMut>();
        let mut document = parsed
            .map_err(|error| of_file(format!("is not TOML: {}: correct it", objects::one_line(error.message()))))?;
        let version = match document.get("version") {
            // A file without keys is as good as none.
            None if document.is_empty() => {
                let version = seen.version.of_new_file();
                document.insert("version", Item::Value(version.number().into()));
                version
            }
            found => read_version(found, seen.version).map_err(of_file)?,
        };
        Ok(Self { seen, document, version, files: Vec::new(), expected: Vec::new(), problems: Vec::new() })
    }

    /// A CRI plugin that is disabled ignores every setting of its own.
    fn check_plugins(&mut self) {
        let disabled = self.document.get("disabled_plugins").and_then(Item::as_array);
        let names = disabled.into_iter().flat_map(|disabled| disabled.iter()).filter_map(Value::as_str);
        let problems: Vec<Problem> = names
            .filter(|name| CRI_PLUGINS.contains(name))
            .map(|name| {
                let path = self.seen.config_path;
                let message = format!("disables the plugin {name}, without which Kubernetes cannot use containerd");
                Problem::of_machine(format!("{path} {message}: remove it from disabled_plugins"))
            })
            .collect();
        self.problems.extend(problems);
    }

    /// Before 2.0 a plugin's table in an imported file replaces that of config.toml as a whole.
    fn check_imports(&mut self) {
        if !self.seen.version.imports_replace_tables() {
            return;
        }
        for ImportedFile { path, text } in self.seen.imports {
            let Ok(imported) = text.parse::<DocumentMut>() else { continue };
            for table in self.version.tables().into_iter().filter(|table| get(&imported, table).is_some()) {
                let version = self.seen.version;
                self.problems.push(Problem::of_machine(format!(
                    "{path} is imported by {} and sets {table}: containerd {version} then ignores this table of {}. \
                     Move its content there, and delete the file",
                    self.seen.config_path, self.seen.config_path
                )));
            }
        }
    }

    fn settings(&mut self, settings: &Settings) {
        let texts = [
            (ConfigVersion::data_root(), &settings.data_root, "spec.dataRoot"),
            (self.version.sandbox_image(), &settings.sandbox_image, "spec.sandboxImage"),
            (self.version.snapshotter(), &settings.snapshotter, "spec.snapshotter"),
        ];
        for (key, value, field) in texts {
            if let Some(value) = value {
                self.set(key, value.as_str().into(), field);
            }
        }
        match runtimes::wanted(settings, &self.document, self.version) {
            Ok(wanted) => wanted.into_iter().for_each(|(key, value, field)| self.set(key, value, field)),
            Err(problem) => self.problems.push(problem),
        }
    }

    fn registries(&mut self, settings: &Settings) {
        if settings.registries.is_empty() {
            return;
        }
        let registry = self.version.registry();
        self.convert(settings, &registry);
        let key = registry.below(&["config_path"]);
        let path = match text(&self.document, &key).filter(|path| !path.is_empty()) {
            None => CERTS_DIR.to_owned(),
            Some(path) if path.split(':').next().map(|first| first.trim_end_matches('/')) == Some(CERTS_DIR) => {
                path.to_owned()
            }
            Some(path) => {
                let path = objects::one_line(path);
                self.problems.push(Problem::of_machine(format!(
                    "{key} in {} is {path}: move the hosts.toml files from there to {CERTS_DIR}, and remove the key",
                    self.seen.config_path
                )));
                return;
            }
        };
        self.set(key, path.as_str().into(), "spec.registries");
        for registry in &settings.registries {
            let shadow = registry.host.rsplit_once(':').map(|(name, port)| format!("{name}_{port}_"));
            if let Some(shadow) = shadow.filter(|shadow| self.seen.hosts.contains(shadow)) {
                let host = &registry.host;
                let message = format!("{CERTS_DIR}/{shadow} is found before {CERTS_DIR}/{host}: delete it");
                self.problems.push(Problem::of_field("spec.registries", message));
            }
            self.files.extend(registry_files(registry));
        }
    }

    fn convert(&mut self, settings: &Settings, registry: &Key) {
        let Some(old) = get(&self.document, registry) else { return };
        let (files, problems) = converted(old, registry);
        self.problems.extend(problems);
        let is_named = |host: &str| settings.registries.iter().any(|registry| registry.host == host);
        for (host, file) in files.into_iter().filter(|(host, _)| !is_named(host)) {
            match self.seen.hosts.contains(&host) {
                true => self.problems.push(exists_already(&host, registry)),
                false => self.files.push(file),
            }
        }
        for name in ["mirrors", "configs"] {
            remove(&mut self.document, &registry.below(&[name]));
        }
    }

    fn extra(&mut self, settings: &Settings) {
        let Some(extra) = &settings.extra else { return };
        match extra::values(extra, self.version) {
            Ok(values) => {
                for (key, value) in values {
                    let other = self.expected.iter().find(|other| other.key == key && !is_same(&other.value, &value));
                    if let Some(field) = other.map(|other| other.field) {
                        let message = format!("sets {key} to another value than {field}: remove one of them");
                        self.problems.push(Problem::of_field("spec.extraConfig", message));
                    } else {
                        self.set(key, value, "spec.extraConfig");
                    }
                }
            }
            Err(problems) => self.problems.extend(problems),
        }
    }

    fn set(&mut self, key: Key, value: Value, field: &'static str) {
        match set(&mut self.document, &key, value.clone()) {
            Ok(()) => self.expected.push(Expected { key, value, field }),
            Err(NotATable(above)) => {
                let path = self.seen.config_path;
                self.problems.push(Problem::of_field(field, format!("{above} in {path} is not a table: correct it")));
            }
        }
    }

    /// What was written must be read back: a table of dotted keys, for one, cannot be extended by another table.
    fn finish(mut self) -> Result<Proposal, Vec<Problem>> {
        let config = with_spelling_of(self.seen.config.unwrap_or_default(), self.document.to_string());
        let read_back = config.parse::<DocumentMut>().unwrap_or_default();
        for Expected { key, value, field } in &self.expected {
            let found = get(&read_back, key).and_then(Item::as_value);
            if !found.is_some_and(|found| is_same(found, value)) {
                let message = format!("cannot be written into {}: write {key} as a table there", self.seen.config_path);
                self.problems.push(Problem::of_field(*field, message));
            }
        }
        let Self { files, expected, version, problems, .. } = self;
        if problems.is_empty() { Ok(Proposal { config, files, expected, version }) } else { Err(problems) }
    }
}

fn read_version(found: Option<&Item>, containerd: Version) -> Result<ConfigVersion, String> {
    let number = found.map_or(Some(1), Item::as_integer).unwrap_or_default();
    let old = found.map_or("has no version, which is version 1".to_owned(), |_| format!("has version {number}"));
    let Some(version) = ConfigVersion::read(number) else {
        let newest = containerd.newest().number();
        return Err(format!(
            "{old}: machineadm edits versions 2 to 4. Rewrite the file for version {newest} (`containerd config \
             default` prints one), or move it away"
        ));
    };
    if version > containerd.newest() {
        let since = version.since();
        return Err(format!(
            "has version {number}, which containerd {since} and later read, and containerd {containerd} is installed: \
             rewrite the file for version {}, or install a newer containerd",
            containerd.newest().number()
        ));
    }
    Ok(version)
}
