//! A token of SoftHSM in a directory: its keys are made, removed and seen with the tools that operators use.
use crate::error::{Error, Result, file};
use crate::{child, judges};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The variable that names SoftHSM's configuration to its module.
pub const CONFIGURATION: &str = "SOFTHSM2_CONF";
/// The variable that names the file of faults to the module of [`SoftHsm::faulty_module`].
pub const FAULT: &str = "PKCS11_FAULT";
/// The label of the token.
pub const TOKEN: &str = "kms";
/// The PIN of the token's user.
pub const PIN: &str = "pin-of-the-user-4711";
const SO_PIN: &str = "pin-of-the-officer";
/// Where Debian has the module.
const MODULE: &str = "/usr/lib/softhsm/libsofthsm2.so";
const LIMIT: Duration = Duration::from_secs(30);

/// One token and the file with its PIN. The directory is its owner's to remove.
#[derive(Debug)]
pub struct SoftHsm {
    directory: PathBuf,
}

impl SoftHsm {
    /// A new token without keys, below an existing directory.
    pub fn create(directory: &Path) -> Result<Self> {
        let hsm = Self { directory: directory.to_owned() };
        let tokens = hsm.tokens();
        fs::create_dir_all(&tokens).map_err(file("create", &tokens))?;
        let text = format!(
            "directories.tokendir = {}\nobjectstore.backend = file\nlog.level = ERROR\nslots.removable = true\n",
            tokens.display()
        );
        fs::write(hsm.configuration(), text).map_err(file("write", hsm.configuration()))?;
        hsm.write_pin(PIN)?;
        let mut command = judges::command("softhsm2-util")?;
        command.args(["--init-token", "--free", "--label", TOKEN, "--pin", PIN, "--so-pin", SO_PIN]);
        hsm.run(&mut command)?;
        Ok(hsm)
    }

    /// The PKCS#11 module.
    pub fn module(&self) -> &Path {
        Path::new(MODULE)
    }

    /// A module that passes everything on to SoftHSM's, and loses sessions, logins and the device when the file of
    /// [`FAULT`] says `sessions`, `login` or `device`. It removes the file when it does. It refuses CKM_AES_ECB while there is
    /// a file of that name and `.no-ecb`, and to decrypt with keys of CKA_ID 01 while there is one and `.inactive`.
    pub fn faulty_module(&self) -> Result<PathBuf> {
        let (source, module) = (self.directory.join("faulty.c"), self.directory.join("faulty.so"));
        fs::write(&source, include_str!("../files/faulty-pkcs11.c")).map_err(file("write", &source))?;
        let mut command = Command::new("cc");
        command.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]).arg(&module).arg(&source).arg("-ldl");
        self.run(&mut command)?;
        Ok(module)
    }

    /// What [`CONFIGURATION`] names for a process that uses the token.
    pub fn configuration(&self) -> PathBuf {
        self.directory.join("softhsm2.conf")
    }

    /// The file with the PIN.
    pub fn pin_file(&self) -> PathBuf {
        self.directory.join("pin")
    }

    /// Writes the file with the PIN.
    pub fn write_pin(&self, pin: &str) -> Result<()> {
        let path = self.pin_file();
        fs::write(&path, format!("{pin}\n")).map_err(file("write", &path))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(file("change", &path))
    }

    /// Where SoftHSM stores tokens: moved away, the device is removed.
    pub fn tokens(&self) -> PathBuf {
        self.directory.join("tokens")
    }

    /// Generates an AES-256 key in the token. `further` are more arguments of pkcs11-tool.
    pub fn generate(&self, label: &str, id: &str, further: &[&str]) -> Result<()> {
        let words = ["--keygen", "--key-type", "aes:32", "--usage-decrypt", "--label", label, "--id", id];
        self.tool(&[&words[..], further].concat())
    }

    /// Imports an AES-256 key, so that several tokens have the same.
    pub fn import(&self, label: &str, id: &str, key: &[u8; 32]) -> Result<()> {
        let path = self.directory.join("imported");
        fs::write(&path, key).map_err(file("write", &path))?;
        let from = path.display().to_string();
        let words = ["--write-object", &from, "--type", "secrkey", "--key-type", "AES:32", "--usage-decrypt"];
        self.tool(&[&words[..], &["--label", label, "--id", id]].concat())?;
        fs::remove_file(&path).map_err(file("remove", &path))
    }

    /// Deletes a key.
    pub fn delete(&self, label: &str, id: &str) -> Result<()> {
        self.tool(&["--delete-object", "--type", "secrkey", "--label", label, "--id", id])
    }

    fn tool(&self, words: &[&str]) -> Result<()> {
        let mut command = judges::command("pkcs11-tool")?;
        command.args(["--module", MODULE, "--token-label", TOKEN, "--pin", PIN]).args(words);
        self.run(&mut command)
    }

    fn run(&self, command: &mut Command) -> Result<()> {
        if !Path::new(MODULE).exists() {
            return Err(Error::Missing { what: MODULE.to_owned(), remedy: "scripts/setup".to_owned() });
        }
        child::check(command.env(CONFIGURATION, self.configuration()), LIMIT).map(drop)
    }
}
