//! The command lines: what kubeadm's manifests say, on loopback and in a directory of our own.
use super::Options;
use std::path::Path;

/// Where the API servers find how to encrypt.
pub(super) const ENCRYPTION: &str = "encryption.yaml";

/// Enough for tokens, certificate requests, and for what is deleted with its owner.
pub(super) const CONTROLLERS: &[&str] = &[
    "bootstrapsigner",
    "tokencleaner",
    "csrapproving",
    "csrsigning",
    "csrcleaner",
    "garbagecollector",
    "namespace",
    "serviceaccount",
    "serviceaccount-token",
    "root-ca-certificate-publisher-controller",
];

/// One member, which may lose what it has not written yet: nobody reads it after a crash of the host.
pub(super) fn etcd(directory: &Path, clients: u16, peers: u16) -> Vec<String> {
    let text = "--name=etcd --data-dir=DIR/etcd --unsafe-no-fsync --log-level=warn
        --listen-client-urls=https://127.0.0.1:CLIENTS --advertise-client-urls=https://127.0.0.1:CLIENTS
        --listen-peer-urls=https://127.0.0.1:PEERS --initial-advertise-peer-urls=https://127.0.0.1:PEERS
        --initial-cluster=etcd=https://127.0.0.1:PEERS
        --client-cert-auth --trusted-ca-file=PKI/etcd/ca.crt --cert-file=PKI/etcd/server.crt --key-file=PKI/etcd/server.key
        --peer-client-cert-auth --peer-trusted-ca-file=PKI/etcd/ca.crt
        --peer-cert-file=PKI/etcd/peer.crt --peer-key-file=PKI/etcd/peer.key";
    words(directory, &text.replace("CLIENTS", &clients.to_string()).replace("PEERS", &peers.to_string()))
}

pub(super) fn api_server(directory: &Path, store: u16, port: u16, options: &Options) -> Vec<String> {
    let text = "--etcd-servers=https://127.0.0.1:STORE --etcd-cafile=PKI/etcd/ca.crt
        --etcd-certfile=PKI/apiserver-etcd-client.crt --etcd-keyfile=PKI/apiserver-etcd-client.key
        --bind-address=127.0.0.1 --secure-port=PORT --advertise-address=127.0.0.1 --endpoint-reconciler-type=none
        --service-cluster-ip-range=10.96.0.0/12 --allow-privileged=true
        --tls-cert-file=PKI/apiserver.crt --tls-private-key-file=PKI/apiserver.key --client-ca-file=PKI/ca.crt
        --kubelet-client-certificate=PKI/apiserver-kubelet-client.crt --kubelet-client-key=PKI/apiserver-kubelet-client.key
        --proxy-client-cert-file=PKI/front-proxy-client.crt --proxy-client-key-file=PKI/front-proxy-client.key
        --requestheader-client-ca-file=PKI/front-proxy-ca.crt --requestheader-allowed-names=front-proxy-client
        --requestheader-extra-headers-prefix=X-Remote-Extra- --requestheader-group-headers=X-Remote-Group
        --requestheader-username-headers=X-Remote-User
        --service-account-issuer=https://kubernetes.default.svc.cluster.local
        --service-account-key-file=PKI/sa.pub --service-account-signing-key-file=PKI/sa.key
        --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --enable-bootstrap-token-auth=true";
    let mut flags = words(directory, &text.replace("STORE", &store.to_string()).replace("PORT", &port.to_string()));
    if options.encryption.is_some() {
        let path = directory.join(ENCRYPTION);
        flags.push(format!("--encryption-provider-config={}", path.display()));
        flags.push("--encryption-provider-config-automatic-reload=true".to_owned());
    }
    flags.extend_from_slice(&options.api_server_flags);
    flags
}

pub(super) fn controller_manager(directory: &Path, port: u16, options: &Options) -> Vec<String> {
    let text = "--kubeconfig=DIR/controller-manager.conf --authentication-kubeconfig=DIR/controller-manager.conf
        --authorization-kubeconfig=DIR/controller-manager.conf
        --bind-address=127.0.0.1 --secure-port=PORT --leader-elect=false --use-service-account-credentials=true
        --tls-cert-file=PKI/apiserver.crt --tls-private-key-file=PKI/apiserver.key
        --root-ca-file=PKI/ca.crt --client-ca-file=PKI/ca.crt --requestheader-client-ca-file=PKI/front-proxy-ca.crt
        --cluster-signing-cert-file=PKI/ca.crt --cluster-signing-key-file=PKI/ca.key
        --service-account-private-key-file=PKI/sa.key";
    let mut flags = words(directory, &text.replace("PORT", &port.to_string()));
    flags.push(format!("--controllers={}", options.controllers.join(",")));
    flags.extend_from_slice(&options.controller_manager_flags);
    flags
}

pub(super) fn scheduler(directory: &Path, port: u16) -> Vec<String> {
    let text = "--kubeconfig=DIR/scheduler.conf --authentication-kubeconfig=DIR/scheduler.conf
        --authorization-kubeconfig=DIR/scheduler.conf --bind-address=127.0.0.1 --secure-port=PORT --leader-elect=false
        --tls-cert-file=PKI/apiserver.crt --tls-private-key-file=PKI/apiserver.key --client-ca-file=PKI/ca.crt";
    words(directory, &text.replace("PORT", &port.to_string()))
}

/// One flag per word; the directory is filled in afterwards, since it may hold blanks.
fn words(directory: &Path, text: &str) -> Vec<String> {
    let directory = directory.display().to_string();
    let fill = |word: &str| word.replace("PKI", &format!("{directory}/pki")).replace("DIR", &directory);
    text.split_whitespace().map(fill).collect()
}
