//! ProxyConfig: how services reach the outside.
use crate::Secret;

/// Proxy variables for services.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// The environment file's name without its ending.
    pub name: String,
    /// Names and values, upper and lower case forms, in order; a URL may hold a password.
    pub variables: Vec<(String, Secret<String>)>,
    /// Units, without `.service`.
    pub services: Vec<String>,
}
