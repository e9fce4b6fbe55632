//! Finding a cluster that one can trust: bootstrap tokens, cluster-info and its signatures, pins and discovery methods.
