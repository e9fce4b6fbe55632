//! Get, create, replace, delete: on JSON, which callers turn into types of their own.
use crate::api_server::{ApiServer, Call, Outcome};
use crate::{Error, Result, status};
use fetch::Method;
use serde_json::{Value, json};

/// Whether the server does what it is asked, or only says what would come of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Effect {
    /// It does.
    #[default]
    Real,
    /// It checks everything and stores nothing (`dryRun`).
    DryRun,
}

impl Effect {
    fn query(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::Real => Vec::new(),
            Self::DryRun => vec![("dryRun", "All")],
        }
    }
}

/// What came of creating.
#[derive(Debug)]
pub enum Created {
    /// It was made; this is what the server stored.
    Created(Value),
    /// There is one of that name.
    Exists {
        /// Whether an earlier try of this very call may have made it, its answer being lost: look at it to find out.
        maybe_ours: bool,
    },
}

/// What came of replacing.
#[derive(Debug)]
pub enum Replaced {
    /// It was replaced; this is what the server stored.
    Replaced(Value),
    /// It was changed by somebody else, or by an earlier try of this very call whose answer was lost: look at it again.
    Conflict,
    /// There is none of that name.
    Absent,
}

/// What came of deleting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted {
    /// It was deleted, or will be when its finalizers are done.
    Deleted,
    /// There is none of that name.
    Absent,
    /// It is not the one that was meant, or not as it was.
    Changed,
}

/// What must still hold for an object that is deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Precondition {
    /// It is this one, not another of the same name.
    pub uid: Option<String>,
    /// It is as it was.
    pub resource_version: Option<String>,
}

impl ApiServer {
    /// An object, or `None` when there is none.
    pub fn get(&self, path: &str) -> Result<Option<Value>> {
        let call = Call { method: Method::Get, path, query: Vec::new(), body: None, expects: &[404] };
        let Outcome { answer, .. } = self.call(&call)?;
        match answer.status {
            404 => Ok(None),
            _ => self.object(&answer).map(Some),
        }
    }

    /// Whether the server says that it is ready.
    pub fn ready(&self) -> Result<()> {
        let call = Call { method: Method::Get, path: "/readyz", query: Vec::new(), body: None, expects: &[] };
        self.call(&call).map(drop)
    }

    /// Makes an object in a collection.
    pub fn create(&self, collection: &str, object: &Value, effect: Effect) -> Result<Created> {
        let query = effect.query();
        let call = Call { method: Method::Post, path: collection, query, body: Some(object), expects: &[409] };
        let Outcome { answer, maybe_done } = self.call(&call)?;
        if answer.status != 409 {
            return self.object(&answer).map(Created::Created);
        }
        match status::error(&answer, &self.server()) {
            Error::Status { reason, .. } if reason == "AlreadyExists" => Ok(Created::Exists { maybe_ours: maybe_done }),
            other => Err(other),
        }
    }

    /// Puts an object in the place of the one with its name and `metadata.resourceVersion`.
    pub fn replace(&self, path: &str, object: &Value, effect: Effect) -> Result<Replaced> {
        let query = effect.query();
        let call = Call { method: Method::Put, path, query, body: Some(object), expects: &[404, 409] };
        let Outcome { answer, .. } = self.call(&call)?;
        match answer.status {
            404 => Ok(Replaced::Absent),
            409 => Ok(Replaced::Conflict),
            _ => self.object(&answer).map(Replaced::Replaced),
        }
    }

    /// Deletes an object, if what must hold still does.
    pub fn delete(&self, path: &str, only_if: &Precondition, effect: Effect) -> Result<Deleted> {
        let Precondition { uid, resource_version } = only_if;
        let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {}});
        for (name, value) in [("uid", uid), ("resourceVersion", resource_version)] {
            if let Some(value) = value {
                options["preconditions"][name] = value.as_str().into();
            }
        }
        if effect == Effect::DryRun {
            // The server looks at the query only if there is no body.
            options["dryRun"] = json!(["All"]);
        }
        let query = Vec::new();
        let call = Call { method: Method::Delete, path, query, body: Some(&options), expects: &[404, 409] };
        Ok(match self.call(&call)?.answer.status {
            404 => Deleted::Absent,
            409 => Deleted::Changed,
            _ => Deleted::Deleted,
        })
    }
}
