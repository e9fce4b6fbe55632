//! Memory of token commands beside a real kubeadm's: the figure of theirs that does not depend on how busy a machine is.
#[path = "../benches/discovery/cluster.rs"]
mod cluster;

use cluster::Cluster;
use machineadm_benches::static_machineadm;

#[test]
#[ignore = "long tier: memory beside kubeadm, of the static program as it ships"]
fn listing_tokens_and_discovering_a_cluster_take_at_most_a_fifth_of_kubeadms_memory() {
    let cluster = Cluster::start(static_machineadm().unwrap()).unwrap().with_tokens(1000).unwrap();
    let (lists, discoveries) = (cluster.lists(2).unwrap(), cluster.discoveries(2).unwrap());
    let floor = cluster.nothing(2).unwrap();
    cluster.down().unwrap();
    for [ours, theirs] in [lists, discoveries] {
        assert!(ours.peak_mb * 5.0 <= theirs.peak_mb, "{ours:?} {theirs:?}");
        assert!(floor.peak_mb <= theirs.peak_mb, "kubeadm was not measured: {floor:?} {theirs:?}");
    }
}
