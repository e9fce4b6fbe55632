//! The members of a cluster's etcd: what etcd's answers say of them, and whether one may be added or removed.
//!
//! ```text
//!  /v3/cluster/member/list ──▶ Member, each ──/v3/maintenance/status──▶ Standing ──┐
//!  /v3/kv/range, linearizable ─────────────────────────────────────────▶ Quorum ──┴──▶ Membership
//! ```
//!
//! - [`Membership`] is everything that was seen of etcd at one moment. [`Membership::joining`] says what keeps a new
//!   member from being added, [`Membership::removing`] what keeps one from being removed. Both are pure.
//! - A member that was just added is a *learner*: it receives data and does not vote. kubeadm promotes it to a *voter*
//!   once it has caught up. etcd accepts one learner at a time, so that a leftover one blocks every later join.
//! - A member without a name has never started: it is an entry in the list and nothing else.
//! - `answers.rs` reads the JSON of etcd's gateway. The requests are sent by `crates/cluster`.
mod answers;
mod credentials;
mod membership;
mod rules;

pub use answers::{NotEtcd, failure, members, status};
pub use credentials::Credentials;
pub use membership::{Member, MemberId, Membership, Quorum, Role, Standing, Votes};
pub use rules::{JoinObstacle, RemovalObstacle};
