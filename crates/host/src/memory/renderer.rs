//! Programs that render files, played by a function of the test.
use crate::{Error, Rendering, Result};
use secret::Secret;

/// What plays every program that renders a file: gives the file, or the reason why not.
#[derive(Clone, Copy, Debug)]
pub struct Renderer(pub fn(&Rendering) -> std::result::Result<String, String>);

impl Renderer {
    pub(super) fn rendered(self, rendering: &Rendering) -> Result<Secret<Vec<u8>>> {
        let program = rendering.argv.first().cloned().unwrap_or_default();
        let failed =
            |output| Error::Program { program, how: "ended with exit code 1".into(), output: Secret::new(output) };
        self.0(rendering).map(|text| Secret::new(text.into_bytes())).map_err(failed)
    }
}

impl Default for Renderer {
    fn default() -> Self {
        Self(|rendering| Err(format!("nothing plays {}", rendering.argv.join(" "))))
    }
}

/// Two machines with the same content are equal, whoever renders their files.
impl PartialEq for Renderer {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
