//! What was seen of etcd at one moment.
use std::fmt;

/// The id of a member, which etcd shows in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemberId(pub u64);

impl fmt::Display for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

/// Whether a member votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It votes: more than half of all voters must answer.
    Voter,
    /// It only receives data until it is promoted.
    Learner,
}

impl Role {
    /// As etcd calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Voter => "voter",
            Self::Learner => "learner",
        }
    }
}

/// Whether a member serves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// It answers at its client URL.
    Answers,
    /// It answers, and reports an alarm: all members report those of all, such as that there is no space.
    Alarmed(String),
    /// It has never started: the list has its peer URL and nothing else.
    NotStarted,
    /// It has started before, and does not answer now.
    Silent(String),
}

/// A member of etcd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its id.
    pub id: MemberId,
    /// Its name, which is the node's; empty until it has started.
    pub name: String,
    /// Where other members reach it.
    pub peer_urls: Vec<String>,
    /// Where clients reach it; empty until it has started.
    pub client_urls: Vec<String>,
    /// Whether it votes.
    pub role: Role,
    /// Whether it serves.
    pub standing: Standing,
}

impl Member {
    /// How people know it: its name, or its peer URL.
    pub fn title(&self) -> &str {
        match self.name.is_empty() {
            false => &self.name,
            true => self.peer_urls.first().map_or("a member without peer URL", String::as_str),
        }
    }

    /// Whether other members reach it at this URL.
    pub fn has_peer_url(&self, url: &str) -> bool {
        self.peer_urls.iter().any(|own| own == url)
    }

    /// Whether it answers.
    pub fn answers(&self) -> bool {
        matches!(self.standing, Standing::Answers | Standing::Alarmed(_))
    }
}

/// Whether etcd can write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quorum {
    /// A read that needs the agreement of most voters was answered.
    Held,
    /// It was not.
    Lost(String),
}

/// Everything that was seen of etcd at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// Its members, in etcd's order.
    pub members: Vec<Member>,
    /// Whether it can write.
    pub quorum: Quorum,
}

impl Membership {
    /// The member that other members reach at this URL.
    pub fn at(&self, peer_url: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.has_peer_url(peer_url))
    }

    /// The member of a server: the one that others reach at its peer URL, else the one that has a client URL of it. A peer
    /// URL can be changed later (`etcdctl member update`), and the server's own flags then have the old one.
    pub fn of_server(&self, peer_url: &str, client_urls: &[String]) -> Option<&Member> {
        let has_client_url = |member: &&Member| member.client_urls.iter().any(|url| client_urls.contains(url));
        self.at(peer_url).or_else(|| self.members.iter().find(has_client_url))
    }

    /// The member of a node.
    pub fn named(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name == name)
    }

    /// The members that vote.
    pub fn voters(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.role == Role::Voter)
    }
    /// How many voters there are, and how many of them answer.
    pub fn votes(&self) -> Votes {
        Votes { voters: self.voters().count(), answering: self.voters().filter(|voter| voter.answers()).count() }
    }

    /// The same members without one of them, of whatever role.
    pub fn without(&self, id: MemberId) -> Self {
        let members = self.members.iter().filter(|member| member.id != id).cloned().collect();
        Self { members, quorum: self.quorum.clone() }
    }
}

/// The voters of etcd, counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Votes {
    /// All of them.
    pub voters: usize,
    /// Those that answer.
    pub answering: usize,
}

impl Votes {
    /// How many must answer: more than half.
    pub const fn needed(self) -> usize {
        self.voters / 2 + 1
    }

    /// How many of those that answer may still fail.
    pub const fn may_fail(self) -> usize {
        self.answering.saturating_sub(self.needed())
    }
}
