//! The owner of a Secret: the token whose deletion deletes the Secret too.
use discovery::{TokenId, token_secret};
use objects::{ObjectMeta, OwnerReference, Resource, Secret};

/// The Secret of a token, as the owner of another Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The token.
    pub id: TokenId,
    /// Which object of that name, as the API server answered when it was created.
    pub uid: String,
}

impl Owner {
    /// A token's Secret that the API server has answered with: only such a one has a UID.
    pub fn of(token: &Secret) -> Option<Self> {
        let uid = token.metadata.uid.clone().filter(|uid| !uid.is_empty())?;
        Some(Self { id: token_secret::id(token).ok()?, uid })
    }

    /// The first token among the owners that an object names.
    pub fn named_by(metadata: &ObjectMeta) -> Option<Self> {
        let is_secret =
            |owner: &&OwnerReference| owner.api_version == Secret::API_VERSION && owner.kind == Secret::KIND;
        let tokens = metadata.owner_references.iter().filter(is_secret);
        tokens.filter_map(|owner| Some(Self { id: token_secret::id_of(&owner.name)?, uid: owner.uid.clone() })).next()
    }

    /// The reference that makes the garbage collector delete an object after this token.
    pub fn reference(&self) -> OwnerReference {
        OwnerReference {
            api_version: Secret::API_VERSION.to_owned(),
            kind: Secret::KIND.to_owned(),
            name: token_secret::name(&self.id),
            uid: self.uid.clone(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }
    }

    /// The metadata of an object in the namespace of tokens that this token owns.
    pub(crate) fn metadata(&self, name: &str) -> ObjectMeta {
        let owner_references = vec![self.reference()];
        ObjectMeta { owner_references, ..ObjectMeta::named_in(token_secret::NAMESPACE, name) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use discovery::TokenSettings;

    fn token() -> Secret {
        TokenSettings::new("abcdef.0123456789abcdef".parse().unwrap()).secret()
    }

    #[test]
    fn only_a_token_that_the_api_server_has_stored_can_own() {
        let mut token = token();
        assert_eq!(Owner::of(&token), None);
        token.metadata.uid = Some(String::new());
        assert_eq!(Owner::of(&token), None);
        token.metadata.uid = Some("u".to_owned());
        assert_eq!(Owner::of(&token), Some(Owner { id: "abcdef".parse().unwrap(), uid: "u".to_owned() }));
        token.secret_type = "Opaque".to_owned();
        assert_eq!(Owner::of(&token), None);
    }

    #[test]
    fn an_owner_is_read_back_among_others_that_are_not_tokens() {
        let owner = Owner { id: "abcdef".parse().unwrap(), uid: "u".to_owned() };
        let mut metadata = owner.metadata("x");
        assert_eq!(Owner::named_by(&metadata), Some(owner.clone()));
        let own = owner.reference();
        let others = [
            OwnerReference { kind: "ConfigMap".to_owned(), ..own.clone() },
            OwnerReference { api_version: "x/v1".to_owned(), ..own.clone() },
            OwnerReference { name: "something".to_owned(), ..own.clone() },
        ];
        metadata.owner_references = others.to_vec();
        assert_eq!(Owner::named_by(&metadata), None);
        metadata.owner_references.push(own);
        assert_eq!(Owner::named_by(&metadata), Some(owner));
    }
}
