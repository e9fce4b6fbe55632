//! containerd: what a ContainerdConfig makes of its configuration, judged by real containerds.

// Whole machines, control planes on loopback, real programs of others.
mod containerd_documents;
mod containerd_machine;

#[path = "../support"]
mod support {
    pub(crate) mod own_containerd;
    pub(crate) mod registry_mirror;
}
