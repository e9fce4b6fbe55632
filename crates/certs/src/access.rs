//! Who may read the kubeadm-certs Secret: machines that come with a bootstrap token, and no other object than that one.
use crate::secret_object::{NAME, NAMESPACE};
use discovery::usage::NODE_GROUP;
use objects::{Object, ObjectMeta, PolicyRule, Resource, Role, RoleBinding, RoleRef, Secret, Subject};

/// The name of the Role and of the RoleBinding; kubeadm's.
pub const ACCESS_NAME: &str = "kubeadm:kubeadm-certs";

/// The Role and the RoleBinding, in the order in which they are created.
pub fn access_objects() -> [Object; 2] {
    let metadata = || ObjectMeta::named_in(NAMESPACE, ACCESS_NAME);
    let role = Role::new(metadata(), vec![PolicyRule::get(Secret::PLURAL, &[NAME])]);
    let binding = RoleBinding::new(metadata(), RoleRef::role(ACCESS_NAME), vec![Subject::group(NODE_GROUP)]);
    [role.into(), binding.into()]
}
