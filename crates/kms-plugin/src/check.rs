//! `--check`: one round trip through each key, without a socket.
use crate::configuration::Configuration;
use crate::probe;

/// Prints one line for each key; whether all work.
pub(crate) fn check(configuration: &Configuration) -> bool {
    let mut all_work = true;
    for key in &configuration.keys {
        match probe::probe(key.backend.service().as_ref(), key.epoch, key.timeout, None) {
            Ok(probed) => {
                println!("{}: encrypts and decrypts, key id {}", key.name, probed.id);
                probed.caution.iter().for_each(|caution| println!("{}: warning: {caution}", key.name));
            }
            Err(failure) => {
                all_work = false;
                println!("{}: {failure}", key.name);
            }
        }
    }
    all_work
}
