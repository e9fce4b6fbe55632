//! `machineadm explain`: what a kind or a field means.
use crate::{cli::Explain, show};
use host::contract::Exit;

pub(crate) fn run(asked: &Explain) -> Exit {
    let Some(what) = &asked.what else {
        show::print(&kinds());
        return Exit::Done;
    };
    match documents::explain(what) {
        Ok(text) => {
            show::print(&text);
            Exit::Done
        }
        Err(error) => super::wrong_use(&error.to_string()),
    }
}

fn kinds() -> String {
    let width = documents::KINDS.iter().map(|kind| kind.kind.len()).max().unwrap_or_default();
    let line = |kind: &documents::Kind| format!("  {}  {}\n", show::padded(kind.kind, width), kind.summary);
    let lines: String = documents::KINDS.iter().map(line).collect();
    format!("Kinds of machineadm.cluster.x-k8s.io/v1alpha1:\n\n{lines}\nFor one of them: machineadm explain KIND\n")
}
