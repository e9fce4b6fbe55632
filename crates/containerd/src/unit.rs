//! Which configuration a unit of systemd gives to containerd.

/// The file that containerd's unit names, by `systemctl show -p Environment,ExecStart`; `None` where it names none, so
/// that containerd reads its usual one, or where only the service itself could tell.
pub fn unit_config_path(shown: &str) -> Option<String> {
    let member = |name: &str| shown.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let argv = member("ExecStart")?.split_once("argv[]=")?.1.split(" ; ").next()?;
    let mut words = argv.split_whitespace();
    let mut named = None;
    while let Some(word) = words.next() {
        named = match word.split_once('=') {
            Some(("-c" | "--config", path)) => Some(path),
            _ if matches!(word, "-c" | "--config") => words.next(),
            _ => named,
        };
    }
    let named = named?;
    let Some(variable) = named.strip_prefix('$') else { return Some(named.to_owned()) };
    let variable = variable.trim_start_matches('{').trim_end_matches('}');
    let mut environment = member("Environment")?.split_whitespace();
    environment.find_map(|entry| entry.trim_matches('"').strip_prefix(variable)?.strip_prefix('=').map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::unit_config_path;

    #[test]
    fn a_unit_names_a_file_by_an_argument_or_by_a_variable() {
        let unit = |argv: &str, environment: &str| {
            format!(
                "ExecStart={{ path=/usr/bin/containerd ; argv[]={argv} ; ignore_errors=no }}\nEnvironment={environment}\n"
            )
        };
        let path = |argv: &str, environment: &str| unit_config_path(&unit(argv, environment));
        assert_eq!(path("/usr/bin/containerd", "A=b"), None);
        assert_eq!(path("/usr/bin/containerd -c /etc/a.toml", ""), Some("/etc/a.toml".into()));
        assert_eq!(path("/usr/bin/containerd --config=/etc/a.toml --log-level x", ""), Some("/etc/a.toml".into()));
        let flatcar = "A=b CONTAINERD_CONFIG=/usr/share/containerd/config.toml";
        let argv = "/usr/bin/env PATH=/x containerd --config ${CONTAINERD_CONFIG}";
        assert_eq!(path(argv, flatcar), Some("/usr/share/containerd/config.toml".into()));
        assert_eq!(path("containerd -c $NO_SUCH", flatcar), None);
        assert_eq!(unit_config_path(""), None);
    }
}
