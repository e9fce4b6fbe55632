//! A small model of a disk: what a power cut may leave of a recorded order of calls.
//!
//! A file's bytes, mode and owner are durable once the file is synced, a name once its directory is. What is not
//! durable yet may have reached the disk or not, each for itself, and bytes also in part, of which the first half stands
//! for all.
use crate::support::{
    file_tree::{Entry, Tree},
    strace::Op,
};
use std::collections::{BTreeMap, BTreeSet};

type Inode = usize;

/// One thing that reaches the disk as a whole or not, and the call after which it surely has.
struct Effect {
    call: usize,
    durable: usize,
    what: What,
}

enum What {
    Link { dir: Inode, name: String, inode: Inode },
    Rename { dir: Inode, from: String, to: String, inode: Inode },
    Remove { dir: Inode, name: String },
    Write { inode: Inode, bytes: Vec<u8> },
    Cut { inode: Inode },
    Mode { inode: Inode, mode: u32 },
    Owner { inode: Inode, owner: (u32, u32) },
}

#[derive(Clone)]
struct Node {
    entry: Entry,
    names: BTreeMap<String, Inode>,
}

/// A recorded order of calls on a tree.
pub(crate) struct Disk {
    before: Vec<Node>,
    effects: Vec<Effect>,
    pub(crate) calls: usize,
    /// Each version of a file that was renamed into its place, whole.
    pub(crate) whole: Vec<(String, Entry)>,
}

impl Disk {
    /// The calls, on the tree as it was before them.
    pub(crate) fn new(before: &Tree, ops: &[Op]) -> Self {
        let mut nodes = Vec::new();
        for (path, entry) in before {
            let inode = nodes.len();
            nodes.push(Node { entry: entry.clone(), names: BTreeMap::new() });
            if let Some((above, name)) = path.rsplit_once('/') {
                let above = find(&nodes, above).expect("a tree lists directories before what is in them");
                nodes[above].names.insert(name.to_owned(), inode);
            }
        }
        let mut disk = Self { before: nodes.clone(), effects: Vec::new(), calls: ops.len(), whole: Vec::new() };
        for (call, op) in ops.iter().enumerate() {
            disk.take(call, op, &mut nodes);
        }
        // Files that were made later exist from the start, empty and without a name.
        for node in &nodes[disk.before.len()..] {
            let entry = Entry { body: Vec::new(), ..node.entry.clone() };
            disk.before.push(Node { entry, names: BTreeMap::new() });
        }
        for effect in &disk.effects {
            if let What::Link { inode, .. } = effect.what {
                disk.before[inode].entry.mode = first_mode(ops, effect.call);
                disk.before[inode].entry.owner = disk.before[0].entry.owner;
            }
        }
        disk
    }

    /// Every tree that a power cut after any of the calls could leave, each once: all choices of what of the open effects
    /// has reached the disk. Their number doubles with each effect that is never made durable.
    pub(crate) fn every_state(&self) -> BTreeSet<Tree> {
        let mut states = BTreeSet::new();
        for call in 0..=self.calls {
            for fates in self.choices(call) {
                states.insert(self.state_before(call, &fates));
            }
        }
        states
    }

    /// Some of them: after each call all open effects kept, all lost, and each one alone lost, kept or halved.
    pub(crate) fn states_that_differ_in_one_effect(&self) -> BTreeSet<Tree> {
        let mut states = BTreeSet::new();
        for call in 0..=self.calls {
            let open = self.effects.iter().filter(|effect| effect.is_open(call)).count();
            let mut add = |fates: &[Kept]| _ = states.insert(self.state_before(call, fates));
            for all in [Kept::Whole, Kept::Lost] {
                add(&vec![all; open]);
            }
            for one in 0..open {
                for (others, fate) in [(Kept::Whole, Kept::Lost), (Kept::Lost, Kept::Whole), (Kept::Whole, Kept::Half)]
                {
                    let mut fates = vec![others; open];
                    fates[one] = fate;
                    add(&fates);
                }
            }
        }
        states
    }

    /// Every choice of fates for the effects that are open before a call.
    pub(crate) fn choices(&self, call: usize) -> Vec<Vec<Kept>> {
        let open = self.effects.iter().filter(|effect| effect.is_open(call));
        open.fold(vec![Vec::new()], |choices, effect| {
            assert!(choices.len() < 10_000, "too many effects are open before call {call} to build every state");
            let with =
                |choice: &Vec<Kept>| effect.fates().iter().map(|fate| [&choice[..], &[*fate]].concat()).collect();
            choices.iter().flat_map::<Vec<_>, _>(with).collect()
        })
    }

    /// The tree when the power is cut before a call, with these fates of the open effects.
    fn state_before(&self, call: usize, fates: &[Kept]) -> Tree {
        let mut fates = fates.iter();
        let done = self.effects.iter().filter(|effect| effect.call < call);
        self.state(done.map(|effect| {
            let fate = if effect.is_open(call) { fates.next() } else { None };
            (&effect.what, fate.copied().unwrap_or(Kept::Whole))
        }))
    }

    fn state<'a>(&self, effects: impl Iterator<Item = (&'a What, Kept)>) -> Tree {
        let mut nodes = self.before.clone();
        effects.for_each(|(what, kept)| apply(&mut nodes, what, kept));
        let mut tree = Tree::new();
        let mut ahead = vec![(String::new(), 0)];
        while let Some((path, inode)) = ahead.pop() {
            for (name, below) in &nodes[inode].names {
                ahead.push((format!("{path}/{name}"), *below));
            }
            tree.insert(path, nodes[inode].entry.clone());
        }
        tree
    }

    /// Turns a call into its effects, and does them.
    fn take(&mut self, call: usize, op: &Op, nodes: &mut Vec<Node>) {
        let at = |path: &str, nodes: &[Node]| find(nodes, path).expect("a call names what is there");
        let split = |path: &str, nodes: &[Node]| {
            let (above, name) = path.rsplit_once('/').expect("below the root");
            (find(nodes, above).expect("its directory is there"), name.to_owned())
        };
        match op {
            Op::Open { path, cut, .. } if find(nodes, path).is_some() => {
                if *cut {
                    self.add(call, What::Cut { inode: at(path, nodes) }, nodes);
                }
            }
            Op::Open { path, mode, .. } | Op::MakeDir { path, mode } => {
                let kind = if matches!(op, Op::MakeDir { .. }) { "directory" } else { "file" };
                let (dir, name) = split(path, nodes);
                let entry = Entry { kind, mode: *mode, owner: nodes[0].entry.owner, body: Vec::new() };
                nodes.push(Node { entry, names: BTreeMap::new() });
                self.add(call, What::Link { dir, name, inode: nodes.len() - 1 }, nodes);
            }
            Op::Write { path, bytes } => {
                self.add(call, What::Write { inode: at(path, nodes), bytes: bytes.clone() }, nodes);
            }
            Op::Cut { path } => self.add(call, What::Cut { inode: at(path, nodes) }, nodes),
            Op::Mode { path, mode } => self.add(call, What::Mode { inode: at(path, nodes), mode: *mode }, nodes),
            Op::Owner { path, owner } => self.add(call, What::Owner { inode: at(path, nodes), owner: *owner }, nodes),
            Op::Rename { from, to } => {
                let ((dir, from_name), (to_dir, to_name)) = (split(from, nodes), split(to, nodes));
                assert_eq!(dir, to_dir, "the model renames within one directory only");
                let inode = at(from, nodes);
                self.whole.push((to.clone(), nodes[inode].entry.clone()));
                self.add(call, What::Rename { dir, from: from_name, to: to_name, inode }, nodes);
            }
            Op::Remove { path } => {
                let (dir, name) = split(path, nodes);
                self.add(call, What::Remove { dir, name }, nodes);
            }
            Op::Sync { path } => {
                let synced = at(path, nodes);
                self.sync(call, |place| place == synced);
            }
            Op::SyncAll => self.sync(call, |_| true),
        }
    }

    fn add(&mut self, call: usize, what: What, nodes: &mut [Node]) {
        apply(nodes, &what, Kept::Whole);
        self.effects.push(Effect { call, durable: usize::MAX, what });
    }

    fn sync(&mut self, call: usize, covers: impl Fn(Inode) -> bool) {
        let open = self.effects.iter_mut().filter(|effect| effect.durable == usize::MAX);
        open.filter(|effect| covers(effect.what.place())).for_each(|effect| effect.durable = call);
    }
}

/// What of an effect has reached the disk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    Whole,
    Half,
    Lost,
}

impl Effect {
    /// Whether it has been done before a call, and need not have reached the disk.
    const fn is_open(&self, call: usize) -> bool {
        self.call < call && self.durable >= call
    }

    /// What may become of it: only bytes can reach the disk in part.
    const fn fates(&self) -> &'static [Kept] {
        match self.what {
            What::Write { .. } => &[Kept::Whole, Kept::Half, Kept::Lost],
            _ => &[Kept::Whole, Kept::Lost],
        }
    }
}

impl What {
    /// The file or directory whose sync makes it durable.
    const fn place(&self) -> Inode {
        match self {
            Self::Link { dir, .. } | Self::Rename { dir, .. } | Self::Remove { dir, .. } => *dir,
            Self::Write { inode, .. } | Self::Cut { inode } | Self::Mode { inode, .. } | Self::Owner { inode, .. } => {
                *inode
            }
        }
    }
}

fn apply(nodes: &mut [Node], what: &What, kept: Kept) {
    match (what, kept) {
        (_, Kept::Lost) => {}
        (What::Write { inode, bytes }, Kept::Half) => nodes[*inode].entry.body.extend(&bytes[..bytes.len() / 2]),
        (What::Write { inode, bytes }, Kept::Whole) => nodes[*inode].entry.body.extend(bytes),
        (What::Link { dir, name, inode }, _) => _ = nodes[*dir].names.insert(name.clone(), *inode),
        (What::Rename { dir, from, to, inode }, _) => {
            nodes[*dir].names.remove(from);
            nodes[*dir].names.insert(to.clone(), *inode);
        }
        (What::Remove { dir, name }, _) => _ = nodes[*dir].names.remove(name),
        (What::Cut { inode }, _) => nodes[*inode].entry.body.clear(),
        (What::Mode { inode, mode }, _) => nodes[*inode].entry.mode = *mode,
        (What::Owner { inode, owner }, _) => nodes[*inode].entry.owner = *owner,
    }
}

fn find(nodes: &[Node], path: &str) -> Option<Inode> {
    path.split('/').skip(1).try_fold(0, |dir, name| nodes[dir].names.get(name).copied())
}

fn first_mode(ops: &[Op], call: usize) -> u32 {
    match &ops[call] {
        Op::Open { mode, .. } | Op::MakeDir { mode, .. } => *mode,
        other => panic!("{other:?} makes nothing"),
    }
}
