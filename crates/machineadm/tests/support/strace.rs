//! What a program does to a tree, as strace sees it.
use std::{
    collections::HashMap,
    fs,
    path::Path,
    process::{Command, Stdio},
};

/// The calls that change a tree or make it durable.
const CALLS: &str = "open,openat,creat,mkdir,mkdirat,write,pwrite64,writev,pwritev,truncate,ftruncate,chmod,fchmod,\
    fchmodat,chown,fchown,lchown,fchownat,rename,renameat,renameat2,unlink,unlinkat,rmdir,link,linkat,symlink,\
    symlinkat,fallocate,copy_file_range,sendfile,fsync,fdatasync,sync,syncfs";

/// One call that succeeded; paths are from the root on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// Opened for writing: made if it was missing, emptied if asked.
    Open {
        path: String,
        mode: u32,
        cut: bool,
    },
    MakeDir {
        path: String,
        mode: u32,
    },
    Write {
        path: String,
        bytes: Vec<u8>,
    },
    Cut {
        path: String,
    },
    Mode {
        path: String,
        mode: u32,
    },
    Owner {
        path: String,
        owner: (u32, u32),
    },
    Rename {
        from: String,
        to: String,
    },
    Remove {
        path: String,
    },
    Sync {
        path: String,
    },
    SyncAll,
}

/// Runs a program below strace and tells what it did below `root`.
pub(crate) fn record(program: &Command, root: &Path, log: &Path) -> Vec<Op> {
    let mut strace = testbed::judges::command("strace").expect("strace");
    strace.args(["-f", "-y", "-xx", "-s", "65536", "-e"]).arg(format!("trace={CALLS}")).arg("-o").arg(log);
    strace.arg(program.get_program()).args(program.get_args()).stdin(Stdio::null());
    let ended = strace.output().expect("strace runs");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let text = fs::read_to_string(log).expect("strace wrote its log");
    let root = root.to_str().expect("a test's own directory has a plain name");
    whole_lines(&text).iter().filter_map(|line| op(line, root)).collect()
}

/// Joins calls that another process's calls interrupted in the log.
fn whole_lines(text: &str) -> Vec<String> {
    let mut begun: HashMap<&str, String> = HashMap::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        let (process, call) = line.split_once(' ').expect("a line begins with its process");
        let call = call.trim_start();
        if let Some(head) = call.strip_suffix("<unfinished ...>") {
            begun.insert(process, head.to_owned());
        } else if let Some((_, rest)) = call.strip_prefix("<... ").and_then(|call| call.split_once(" resumed>")) {
            lines.push(begun.remove(process).expect("what is resumed was begun") + rest);
        } else {
            lines.push(call.to_owned());
        }
    }
    lines
}

/// Every text is in hexadecimal, so that commas and parentheses are strace's own.
fn op(line: &str, root: &str) -> Option<Op> {
    let (call, rest) = line.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    if result.starts_with('-') {
        return None;
    }
    let arguments: Vec<&str> = arguments.trim_end().strip_suffix(')')?.split(", ").collect();
    let below = |path: String| {
        Some(path.strip_prefix(root)?.to_owned()).filter(|path| path.is_empty() || path.starts_with('/'))
    };
    let opened = |argument: usize| below(descriptor(arguments[argument])?);
    let named = |at: usize| below(format!("{}/{}", descriptor(arguments[at])?, text(arguments[at + 1])));
    let octal = |argument: usize| u32::from_str_radix(arguments[argument], 8).expect("strace shows modes in octal");
    let number = |argument: usize| arguments[argument].parse().expect("strace shows owners as numbers");
    match call {
        "openat" if arguments[2].contains("O_CREAT") || arguments[2].contains("O_TRUNC") => Some(Op::Open {
            path: below(descriptor(result)?)?,
            mode: if arguments.len() > 3 { octal(3) & 0o7755 } else { 0 },
            cut: arguments[2].contains("O_TRUNC"),
        }),
        "openat" | "open" => None,
        "mkdirat" => Some(Op::MakeDir { path: named(0)?, mode: octal(2) }),
        "write" => {
            let count: usize = result.trim().parse().expect("a write tells how much");
            let bytes = decoded(arguments[1].trim_matches('"'))[..count].to_vec();
            Some(Op::Write { path: opened(0)?, bytes })
        }
        "ftruncate" => Some(Op::Cut { path: opened(0)? }),
        "fchmod" => Some(Op::Mode { path: opened(0)?, mode: octal(1) }),
        "fchown" => Some(Op::Owner { path: opened(0)?, owner: (number(1), number(2)) }),
        "renameat" => Some(Op::Rename { from: named(0)?, to: named(2)? }),
        "unlinkat" => Some(Op::Remove { path: named(0)? }),
        "fsync" => Some(Op::Sync { path: opened(0)? }),
        "sync" | "syncfs" => Some(Op::SyncAll),
        other => panic!("the model of a file system does not know {other}: teach it"),
    }
}

/// The path that strace shows behind a descriptor.
fn descriptor(argument: &str) -> Option<String> {
    let (_, path) = argument.split_once('<')?;
    Some(String::from_utf8_lossy(&decoded(path.trim_end().strip_suffix('>')?)).into_owned())
}

fn text(argument: &str) -> String {
    String::from_utf8_lossy(&decoded(argument.trim_matches('"'))).into_owned()
}

fn decoded(text: &str) -> Vec<u8> {
    let byte = |pair| u8::from_str_radix(pair, 16).expect("strace writes every byte as two digits");
    text.split("\\x").skip(1).map(byte).collect()
}
