//! The format of kubeconfigs: clusters, contexts and users, each with a name. Who reads one decides what it may hold.
use crate::{
    SMALL_FILE_LIMIT, printable, wipe,
    yaml::{self, SyntaxError},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use zeroize::Zeroizing;

/// The members of a mapping.
pub type Members = Map<String, Value>;

/// A kubeconfig, read as far as its form goes.
pub struct Kubeconfig {
    members: Members,
    repeated: Vec<String>,
    goes_on: bool,
}

/// What is wrong with the form of a kubeconfig. No value is quoted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It is too large to be one.
    #[error("is larger than {} KiB", SMALL_FILE_LIMIT / 1024)]
    TooLarge,
    /// It is no text.
    #[error("is not UTF-8")]
    NotText,
    /// It is no YAML.
    #[error("{0}")]
    Syntax(SyntaxError),
    /// It is something else.
    #[error("is not a kubeconfig: apiVersion v1, kind Config")]
    OtherKind,
    /// Something follows it.
    #[error("has more than one document (`---` or `...`): remove the others")]
    GoesOn,
    /// A member has a form that no kubeconfig has.
    #[error("{} has an invalid type", printable(.0, 200))]
    WrongForm(String),
    /// Readers differ on which of them counts.
    #[error("{} is set twice", printable(.0, 200))]
    Repeated(String),
    /// A member isn't base64.
    #[error("{} is not base64", printable(.0, 200))]
    NotBase64(String),
}

/// A list of named things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// Where clusters are.
    Clusters,
    /// Which user goes to which cluster.
    Contexts,
    /// Who somebody is.
    Users,
}

impl List {
    /// As the kubeconfig calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clusters => "clusters",
            Self::Contexts => "contexts",
            Self::Users => "users",
        }
    }

    /// The member of an entry that holds everything but its name.
    pub const fn member(self) -> &'static str {
        match self {
            Self::Clusters => "cluster",
            Self::Contexts => "context",
            Self::Users => "user",
        }
    }
}

/// An entry of a list.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The list.
    pub list: List,
    /// Its place there, counted from 0.
    pub index: usize,
    /// Its name, which may be empty.
    pub name: &'a str,
    /// What it holds.
    pub members: &'a Members,
}

impl Kubeconfig {
    /// Reads a kubeconfig. An error is what nobody could read; [`Kubeconfig::problems`] has the rest.
    pub fn read(bytes: &[u8]) -> Result<Self, Problem> {
        if bytes.len() > SMALL_FILE_LIMIT {
            return Err(Problem::TooLarge);
        }
        let text = std::str::from_utf8(bytes).map_err(|_| Problem::NotText)?;
        let mut tree = yaml::parse(text).map_err(Problem::Syntax)?;
        let (repeated, goes_on) = (std::mem::take(&mut tree.repeated), tree.goes_on);
        let members = tree.value.as_object_mut().map(std::mem::take).ok_or(Problem::OtherKind)?;
        Ok(Self { members, repeated, goes_on })
    }

    /// Its members.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// Everything about its form that one reader may take for something else than another.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems: Vec<_> = self.repeated.iter().cloned().map(Problem::Repeated).collect();
        let is =
            |member: &str, value: &str| self.members.get(member).is_none_or(|found| found.is_null() || found == value);
        if !is("apiVersion", "v1") || !is("kind", "Config") {
            problems.push(Problem::OtherKind);
        }
        if self.goes_on {
            problems.push(Problem::GoesOn);
        }
        for list in [List::Clusters, List::Contexts, List::Users] {
            problems.extend(self.problems_of(list));
        }
        problems
    }

    fn problems_of(&self, list: List) -> Vec<Problem> {
        if !matches!(self.members.get(list.name()), None | Some(Value::Null | Value::Array(_))) {
            return vec![Problem::WrongForm(list.name().to_owned())];
        }
        let mut names = BTreeSet::new();
        let problem = |(index, entry)| match named(entry, list) {
            None => Some(Problem::WrongForm(format!("{}[{index}]", list.name()))),
            Some((name, _)) if names.insert(name) => None,
            Some(_) => Some(Problem::Repeated(format!("{}[{index}].name", list.name()))),
        };
        self.values(list).filter_map(problem).collect()
    }

    /// The entries of a list; those that have the wrong form or nothing but a name are left out.
    pub fn entries(&self, list: List) -> impl Iterator<Item = Entry<'_>> {
        self.values(list).filter_map(move |(index, item)| match named(item, list)? {
            (name, Some(members)) => Some(Entry { list, index, name, members }),
            (_, None) => None,
        })
    }

    /// Every item of a list that is a mapping, as a whole, with its path.
    pub fn items(&self, list: List) -> impl Iterator<Item = (String, &Members)> {
        let path = move |index| format!("{}[{index}]", list.name());
        self.values(list).filter_map(move |(index, item)| Some((path(index), item.as_object()?)))
    }

    /// The first entry of a list that has this name.
    pub fn entry(&self, list: List, name: &str) -> Option<Entry<'_>> {
        self.entries(list).find(|entry| entry.name == name)
    }

    /// The name of the current context; empty, if there is none.
    pub fn current_context(&self) -> &str {
        self.members.get("current-context").and_then(Value::as_str).unwrap_or_default()
    }

    fn values(&self, list: List) -> impl Iterator<Item = (usize, &Value)> {
        self.members.get(list.name()).and_then(Value::as_array).into_iter().flatten().enumerate()
    }
}

impl Drop for Kubeconfig {
    fn drop(&mut self) {
        self.members.values_mut().for_each(wipe);
    }
}

/// The name of an item, and what it holds beside it.
fn named(item: &Value, list: List) -> Option<(&str, Option<&Members>)> {
    let item = item.as_object()?;
    let name = match item.get("name") {
        None | Some(Value::Null) => "",
        Some(name) => name.as_str()?,
    };
    match item.get(list.member()) {
        None | Some(Value::Null) => Some((name, None)),
        Some(members) => Some((name, Some(members.as_object()?))),
    }
}

impl<'a> Entry<'a> {
    /// The path of a member, such as `clusters[0].cluster.server`.
    pub fn path(&self, member: &str) -> String {
        format!("{}[{}].{}.{member}", self.list.name(), self.index, self.list.member())
    }

    /// A member's text; empty is absent.
    pub fn text(&self, member: &str) -> Result<Option<&'a str>, Problem> {
        match self.members.get(member) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(_) => Err(Problem::WrongForm(self.path(member))),
        }
    }

    /// The bytes of a member that is written in base64; line ends in it don't count.
    pub fn data(&self, member: &str) -> Result<Option<Zeroizing<Vec<u8>>>, Problem> {
        let Some(text) = self.text(member)? else { return Ok(None) };
        let mut letters = Zeroizing::new(Vec::with_capacity(text.len()));
        letters.extend(text.bytes().filter(|letter| !matches!(letter, b'\n' | b'\r')));
        let bytes = STANDARD.decode(&*letters).map_err(|_| Problem::NotBase64(self.path(member)))?;
        Ok(Some(Zeroizing::new(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kubeconfig(text: &str) -> Kubeconfig {
        Kubeconfig::read(text.as_bytes()).unwrap_or_else(|problem| panic!("{problem}"))
    }

    #[test]
    fn entries_are_found_by_name_with_what_they_hold() {
        let read = kubeconfig(
            "current-context: c\nclusters: [{name: a}, 7, {cluster: {server: s}}, {name: b, cluster: {server: ''}}]",
        );
        let found: Vec<_> = read.entries(List::Clusters).map(|entry| (entry.index, entry.name)).collect();
        assert_eq!((read.current_context(), &found[..]), ("c", &[(2, ""), (3, "b")][..]));
        let [unnamed, b] = ["", "b"].map(|name| read.entry(List::Clusters, name).unwrap());
        assert_eq!((unnamed.text("server"), b.text("server")), (Ok(Some("s")), Ok(None)));
        assert!(read.entry(List::Users, "").is_none() && read.entry(List::Clusters, "a").is_none());
    }

    #[test]
    fn everything_that_readers_could_take_differently_is_a_problem() {
        let text = "kind: Pod\nclusters: [{cluster: {server: a, server: b}}, {name: ''}]\ncontexts: x\nusers: [7, {name: 1}, {user: []}]\n---\nx\n";
        let wrong = |path: &str| Problem::WrongForm(path.to_owned());
        let repeated = |path: &str| Problem::Repeated(path.to_owned());
        let expected = [
            repeated("clusters[0].cluster.server"),
            Problem::OtherKind,
            Problem::GoesOn,
            repeated("clusters[1].name"),
            wrong("contexts"),
            wrong("users[0]"),
            wrong("users[1]"),
            wrong("users[2]"),
        ];
        assert_eq!(kubeconfig(text).problems(), expected);
        assert_eq!(kubeconfig("apiVersion: v1\nkind: Config\nclusters: null\nusers: []\n").problems(), []);
    }

    #[test]
    fn what_is_no_document_is_refused() {
        let refused = |bytes: &[u8]| Kubeconfig::read(bytes).err();
        assert_eq!(refused(&vec![b' '; SMALL_FILE_LIMIT + 1]), Some(Problem::TooLarge));
        assert_eq!(refused(b"\xff"), Some(Problem::NotText));
        assert!(matches!(refused(b"{"), Some(Problem::Syntax(_))));
        for other in ["", "[]", "x"] {
            assert_eq!(refused(other.as_bytes()), Some(Problem::OtherKind), "{other}");
        }
    }

    #[test]
    fn members_are_read_by_their_form() {
        let read = kubeconfig("users: [{name: u, user: {a: 7, b: \"aHVu\\ndGVyMg==\", c: hunter2!, d: ~}}]");
        let user = read.entry(List::Users, "u").unwrap();
        assert_eq!(user.text("a"), Err(Problem::WrongForm("users[0].user.a".to_owned())));
        assert_eq!(user.data("b").map(|bytes| bytes.map(|bytes| bytes.to_vec())), Ok(Some(b"hunter2".to_vec())));
        let problem = user.data("c").unwrap_err();
        assert_eq!(problem.to_string(), "users[0].user.c is not base64");
        assert_eq!((user.data("d"), user.data("e")), (Ok(None), Ok(None)));
    }
}
