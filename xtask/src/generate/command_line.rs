//! Man pages and completions, from the command line's own tree.
use super::Generated;
use clap::CommandFactory;
use clap_complete::Shell;

pub(super) fn files() -> Vec<Generated> {
    let mut command = machineadm::Cli::command();
    // So that subcommands know their full names.
    command.build();
    let mut files = Vec::new();
    pages(&command, &mut files);
    let shells = [(Shell::Bash, "machineadm.bash"), (Shell::Zsh, "_machineadm"), (Shell::Fish, "machineadm.fish")];
    files.extend(shells.map(|(shell, name)| {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut machineadm::Cli::command(), "machineadm", &mut script);
        (format!("docs/completions/{name}"), String::from_utf8_lossy(&script).into_owned())
    }));
    files
}

/// A command's page, and those of the commands below it.
fn pages(command: &clap::Command, files: &mut Vec<Generated>) {
    files.push(man(command));
    let below = command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help");
    below.for_each(|subcommand| pages(subcommand, files));
}

fn man(command: &clap::Command) -> Generated {
    let name = command.get_display_name().unwrap_or(command.get_name()).replace(' ', "-");
    let mut page = Vec::new();
    // Writing into memory does not fail; a page that came out empty would fail the comparison.
    let _ = clap_mangen::Man::new(command.clone()).title(name.to_uppercase()).render(&mut page);
    (format!("docs/man/{name}.1"), with_examples(&String::from_utf8_lossy(&page)))
}

/// Indented lines of the last section are to be copied, so that nothing may fill or break them.
fn with_examples(page: &str) -> String {
    let Some((before, behind)) = page.split_once("\n.SH EXTRA\n") else { return page.to_owned() };
    let mut text = format!("{before}\n.SH EXAMPLES\n");
    let mut is_example = false;
    for line in behind.lines().filter(|line| !line.starts_with("Example")) {
        if line.starts_with("  ") != is_example {
            is_example = !is_example;
            text.push_str(if is_example { ".nf\n" } else { ".fi\n" });
        }
        text.push_str(&format!("{line}\n"));
    }
    text + if is_example { ".fi\n" } else { "" }
}
