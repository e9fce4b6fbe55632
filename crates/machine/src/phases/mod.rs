//! The workflow, in order.
mod commands;
mod files;
mod init;
mod kernel;
mod modules;
mod preflight;
mod proxy;
mod trust;

use crate::{Mode, Phase};

const BEFORE: commands::Commands = commands::Commands(commands::When::Before);
const AFTER: commands::Commands = commands::Commands(commands::When::After);

/// The phases of each mode; this list is the workflow.
pub fn phases(mode: Mode) -> &'static [&'static dyn Phase] {
    match mode {
        Mode::Prepare => &[&trust::Trust, &proxy::Proxies, &modules::Modules, &kernel::Kernel, &files::Files, &BEFORE],
        Mode::Provision => &[
            &trust::Trust,
            &proxy::Proxies,
            &modules::Modules,
            &kernel::Kernel,
            &files::Files,
            &BEFORE,
            &preflight::Preflight,
            &init::Init,
            &AFTER,
        ],
        Mode::Post => &[&trust::Trust, &proxy::Proxies, &modules::Modules, &kernel::Kernel, &files::Files],
    }
}
