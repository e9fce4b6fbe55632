//! A release archive of programs.
use crate::{Seen, Target};
use host::{ArchiveRoot, Drafts, Memory, Packing};
use objects::Sha256Sum;

pub(super) const TARGET: Target = Target {
    name: "archive",
    inputs: 20_000,
    seeds,
    words: &["bin/", "./", "../", "ustar", "0", "5", "L", "x", "g"],
    read: target,
};

/// Uncompressed: a compressed one would hardly survive a change.
fn seeds() -> Vec<Vec<u8>> {
    let packed = |names: &[&str]| {
        let mut archive = tar::Builder::new(Vec::new());
        for name in names {
            let mut header = tar::Header::new_gnu();
            header.set_mode(0o755);
            header.set_size(3);
            // What can't be packed is no seed.
            let _ = archive.append_data(&mut header, name, &b"abc"[..]);
        }
        archive.into_inner().unwrap_or_default()
    };
    vec![packed(&["bin/containerd", "bin/ctr"]), packed(&["./bridge"]), packed(&[&format!("bin/{}", "a".repeat(150))])]
}

/// Every file of an archive that is accepted is directly in its directory.
fn target(input: &[u8]) -> Seen {
    let wanted = Sha256Sum([7; 32]);
    let mut machine = Memory::default();
    let compressed = compressed(input);
    let drafted = machine.open_draft(wanted).and_then(|mut draft| draft.append(&compressed));
    assert!(drafted.is_ok(), "memory takes it");
    let seen = [ArchiveRoot::Top, ArchiveRoot::Bin].map(|inside| {
        let packing = Packing::Archive { directory: "/opt/bin".to_owned(), inside };
        let Ok(files) = machine.contents_of_draft(wanted, &packing) else { return None };
        for file in &files {
            let name = file.path.strip_prefix("/opt/bin/").unwrap_or("/");
            assert!(!name.contains('/') && !name.starts_with('.') && !name.is_empty(), "{}", file.path);
        }
        Some(files.len().min(9))
    });
    Seen::new(seen)
}

fn compressed(input: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    std::io::Write::write_all(&mut packed, input).and_then(|()| packed.finish()).unwrap_or_default()
}
