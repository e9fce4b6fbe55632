//! Makes an object so: created if absent, changed if different, left alone otherwise.
use crate::api_server::{ApiServer, Wiped};
use crate::merge::{is_part, merge};
use crate::{Created, Effect, Error, Replaced, Result};
use serde_json::Value;

/// How often others may come between looking and writing.
const TIMES: usize = 10;

/// What had to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ensured {
    /// It was absent.
    Created,
    /// It was different.
    Updated,
    /// It was so.
    Unchanged,
}

/// What goes from a live object before what is wanted is put over it.
pub(crate) type Forget = fn(want: &Value, live: &mut Value);

impl ApiServer {
    /// Sees to it that an object of a collection has all the members that are given; further members of a live one stay.
    ///
    /// Secrets are given with `data`: the server never shows `stringData`, so that it would always look different.
    pub fn ensure(&self, collection: &str, object: &Value, effect: Effect) -> Result<Ensured> {
        self.ensure_but(collection, object, effect, |_, _| ())
    }

    /// The same, but some members of a live object that differs go.
    pub(crate) fn ensure_but(
        &self,
        collection: &str,
        object: &Value,
        effect: Effect,
        forget: Forget,
    ) -> Result<Ensured> {
        let name = object["metadata"]["name"].as_str().ok_or(Error::Incomplete("metadata.name"))?;
        if name.contains('/') {
            return Err(Error::BadName);
        }
        let path = format!("{collection}/{name}");
        let mut maybe_ours = false;
        for _ in 0..TIMES {
            let Some(live) = self.get(&path)?.map(Wiped) else {
                match self.create(collection, object, effect)? {
                    Created::Created(made) => {
                        drop(Wiped(made));
                        return Ok(Ensured::Created);
                    }
                    Created::Exists { maybe_ours: ours } => maybe_ours |= ours,
                }
                continue;
            };
            if is_part(object, &live.0) {
                return Ok(if maybe_ours { Ensured::Created } else { Ensured::Unchanged });
            }
            let mut live = live;
            forget(object, &mut live.0);
            if let Some(done) = self.update(&path, object, live, effect)? {
                return Ok(done);
            }
        }
        Err(Error::Contended { object: title(object), times: TIMES })
    }

    /// Changes a live object; `None` when somebody else did meanwhile.
    fn update(&self, path: &str, object: &Value, mut live: Wiped, effect: Effect) -> Result<Option<Ensured>> {
        let role = &object["roleRef"];
        if !role.is_null() && !is_part(role, &live.0["roleRef"]) {
            return Err(Error::Immutable { object: title(object), member: "roleRef" });
        }
        merge(object, &mut live.0);
        match self.replace(path, &live.0, effect)? {
            Replaced::Replaced(now) => {
                drop(Wiped(now));
                Ok(Some(Ensured::Updated))
            }
            Replaced::Conflict | Replaced::Absent => Ok(None),
        }
    }
}

/// Kind and name, for people.
fn title(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"]))
}
