//! `machineadm validate`: everything that is wrong, at once.
use crate::{
    cli::Validate,
    context::{sources, usable},
    show,
};
use host::{contract::Exit, linux::input::Care};

pub(crate) fn run(asked: &Validate) -> Exit {
    let sources = match sources(&asked.files, Care::Reading) {
        Ok(sources) => sources,
        Err(exit) => return exit,
    };
    let read = documents::read(sources);
    match asked.output {
        Some(output) => show::machine_readable(&read.report, output),
        None if read.report.is_empty() => {
            let documents = show::count(read.documents.len(), "document");
            show::print(&format!("{}: {documents}, no problems\n", asked.files.join(", ")));
        }
        None => show::print(&read.report.to_string()),
    }
    usable(&read.report).err().unwrap_or(Exit::Done)
}
