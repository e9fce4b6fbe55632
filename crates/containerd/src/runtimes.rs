//! Runtimes, their options and the cgroup driver, as keys and values.
use crate::{
    CgroupDriver, ConfigVersion, OptionValue, Problem, Runtime, Settings,
    edit::{get, text},
    layout::Key,
};
use std::collections::BTreeMap;
use toml_edit::{DocumentMut, Item, Value};

/// containerd's own runtime, which its defaults have.
const RUNC: &str = "runc";
/// The shim of runc, and of programs that are called like it.
const RUNC_TYPE: &str = "io.containerd.runc.v2";

/// A value that is wanted: its key, and the field that asks for it.
pub(crate) type Wanted = (Key, Value, &'static str);

/// What the settings ask of runtimes, given what the file has.
pub(crate) fn wanted(
    settings: &Settings,
    document: &DocumentMut,
    version: ConfigVersion,
) -> Result<Vec<Wanted>, Problem> {
    let Settings { runtimes, default_runtime, cgroup_driver, .. } = settings;
    if runtimes.is_empty() && default_runtime.is_none() && cgroup_driver.is_none() {
        return Ok(Vec::new());
    }
    let mut wanted = Vec::new();
    let mut types = types(document, version);
    // Without a list, containerd has runc.
    let has_list = !types.is_empty();
    for runtime in runtimes {
        types.insert(runtime.name.clone(), Some(runtime.runtime_type.clone()));
        wanted.extend(runtime_values(runtime, version));
    }
    let default = default_runtime.as_deref().or_else(|| text(document, &version.default_runtime())).unwrap_or(RUNC);
    if let Some(name) = default_runtime {
        wanted.push((version.default_runtime(), name.as_str().into(), "spec.defaultRuntime"));
    }
    // A file that lists runtimes replaces containerd's own list before 2.0, runc included, and a table of runc without
    // its type has none.
    let is_wanted = !has_list || default == RUNC || types.contains_key(RUNC);
    if is_wanted && types.get(RUNC).is_none_or(Option::is_none) {
        types.insert(RUNC.to_owned(), Some(RUNC_TYPE.to_owned()));
        let key = version.runtimes().below(&[RUNC, "runtime_type"]);
        wanted.push((key, RUNC_TYPE.into(), "spec.runtimes"));
    }
    if !types.contains_key(default) {
        let message =
            format!("is {}, and no runtime has that name: add it to spec.runtimes", objects::one_line(default));
        return Err(match default_runtime {
            Some(_) => Problem::of_field("spec.defaultRuntime", message),
            None => Problem::of_machine(format!("{} {message}", version.default_runtime())),
        });
    }
    if let Some(driver) = cgroup_driver {
        let of_runc = types.iter().filter(|(_, of_type)| of_type.as_deref() == Some(RUNC_TYPE));
        wanted.extend(of_runc.map(|(name, _)| {
            let key = version.runtimes().below(&[name, "options", "SystemdCgroup"]);
            (key, (*driver == CgroupDriver::Systemd).into(), "spec.cgroupDriver")
        }));
    }
    Ok(wanted)
}

/// The types of the runtimes that a file has, by their names.
fn types(document: &DocumentMut, version: ConfigVersion) -> BTreeMap<String, Option<String>> {
    let runtimes = get(document, &version.runtimes()).and_then(Item::as_table_like);
    let of = |(name, runtime): (&str, &Item)| {
        let of_type = runtime.get("runtime_type").and_then(Item::as_str).filter(|of_type| !of_type.is_empty());
        (name.to_owned(), of_type.map(str::to_owned))
    };
    runtimes.iter().flat_map(|runtimes| runtimes.iter()).map(of).collect()
}

fn runtime_values(runtime: &Runtime, version: ConfigVersion) -> Vec<Wanted> {
    let Runtime { name, runtime_type, binary, options } = runtime;
    let key = version.runtimes().below(&[name]);
    let option = |option: &str, value: Value| (key.below(&["options", option]), value, "spec.runtimes");
    let binary = binary.iter().map(|binary| option("BinaryName", binary.as_str().into()));
    let options = options.iter().map(|(name, value)| {
        let value = match value {
            OptionValue::Bool(value) => (*value).into(),
            OptionValue::Integer(value) => (*value).into(),
            OptionValue::Text(value) => value.as_str().into(),
        };
        option(name, value)
    });
    let of_type = (key.below(&["runtime_type"]), runtime_type.as_str().into(), "spec.runtimes");
    std::iter::once(of_type).chain(binary).chain(options).collect()
}
