# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_machineadm_global_optspecs
    string join \n bootstrap path= root= mode= v/verbose q/quiet log-format= h/help V/version
end

function __fish_machineadm_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_machineadm_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_machineadm_using_subcommand
    set -l cmd (__fish_machineadm_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c machineadm -n "__fish_machineadm_needs_command" -l path -d 'Configuration file for --bootstrap; `-` is standard input' -r
complete -c machineadm -n "__fish_machineadm_needs_command" -l root -d 'Root directory of the machine to work on, instead of the running system [default: /]' -r -F
complete -c machineadm -n "__fish_machineadm_needs_command" -l mode -d 'Lifecycle stage to run: prepare (everything before the node, for example in an image), provision (the node too) or post (files and settings of a node; no commands) [default: provision]' -r -f -a "prepare\t''
provision\t''
post\t''"
complete -c machineadm -n "__fish_machineadm_needs_command" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_needs_command" -l bootstrap -d 'Bootstrap this machine; the same as `machineadm bootstrap -f FILE`'
complete -c machineadm -n "__fish_machineadm_needs_command" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_needs_command" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_needs_command" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_needs_command" -s V -l version -d 'Print version'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "bootstrap" -d 'Apply a configuration to this machine'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "plan" -d 'Show what bootstrap would change'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "apply" -d 'Apply a saved plan'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "init" -d 'Create a cluster with this machine as its first node'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "join" -d 'Join this machine to a cluster as a worker or a control plane node'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "reset" -d 'Undo what machineadm and kubeadm did on this machine'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "validate" -d 'Check a configuration and list every problem'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "encrypt" -d 'Encrypt documents with a passphrase'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "decrypt" -d 'Decrypt documents and print them'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "status" -d 'Print the outcome of the last run'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "explain" -d 'Explain a document kind or one of its fields'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "config" -d 'Convert, validate and edit kubeadm configuration files'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "token" -d 'Create, list and delete bootstrap tokens'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "certs" -d 'Copy the certificates of a control plane to further nodes'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "control-plane" -d 'List control plane nodes and remove a lost one'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "discover" -d 'Find a cluster and verify it'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "discovery-objects" -d 'Create cluster-info and the RBAC objects that joining needs'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "generate" -d 'Write a commented starter configuration'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "version" -d 'Print the version'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "completion" -d 'Print a completion script for a shell'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "help" -d 'Print the help of a command'
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -s f -l filename -d 'Configuration file; may be repeated; `-` is standard input. Default: the saved configuration of an interrupted run, else /etc/machineadm/config.yaml' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -l abandon -d 'Forget an interrupted command that this configuration no longer has; may be repeated' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -s o -l output -d 'Output format of the outcome' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -l root -d 'Root directory of the machine to work on, instead of the running system [default: /]' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -l mode -d 'Lifecycle stage to run: prepare (everything before the node, for example in an image), provision (the node too) or post (files and settings of a node; no commands) [default: provision]' -r -f -a "prepare\t''
provision\t''
post\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -l prune -d 'Restore or delete what earlier documents wrote and this configuration no longer names; only with --mode post'
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -l force -d 'Overwrite edits in the manifest of kube-apiserver that neither kubeadm nor machineadm made'
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and not __fish_seen_subcommand_from show" -s f -l filename -d 'Configuration file; may be repeated; `-` is standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and not __fish_seen_subcommand_from show" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and not __fish_seen_subcommand_from show" -l out -d 'Save the plan in a file, for review and `machineadm apply`; `-` is standard output. It holds the configuration: protect it like that. An existing file is replaced only if it is a saved plan' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and not __fish_seen_subcommand_from show" -l root -d 'Root directory of the machine to work on, instead of the running system [default: /]' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and not __fish_seen_subcommand_from show" -l mode -d 'Lifecycle stage to run: prepare (everything before the node, for example in an image), provision (the node too) or post (files and settings of a node; no commands) [default: provision]' -r -f -a "prepare\t''
provision\t''
post\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and not __fish_seen_subcommand_from show" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and not __fish_seen_subcommand_from show" -l exit-code -d 'Exit with code 3 when there are changes'
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and not __fish_seen_subcommand_from show" -l prune -d 'Restore or delete what earlier documents wrote and this configuration no longer names; only with --mode post'
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and not __fish_seen_subcommand_from show" -l force -d 'Overwrite edits in the manifest of kube-apiserver that neither kubeadm nor machineadm made'
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and not __fish_seen_subcommand_from show" -l no-commands -d 'Do not execute `unless` checks; such commands are shown as "not checked"'
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and not __fish_seen_subcommand_from show" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and not __fish_seen_subcommand_from show" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and not __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and not __fish_seen_subcommand_from show" -f -a "show" -d 'Print a saved plan'
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and __fish_seen_subcommand_from show" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and __fish_seen_subcommand_from show" -l root -d 'Root directory of the machine to work on, instead of the running system [default: /]' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and __fish_seen_subcommand_from show" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand plan; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand apply" -s o -l output -d 'Output format of the outcome' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand apply" -l root -d 'Root directory of the machine to work on, instead of the running system [default: /]' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand apply" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand apply" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand apply" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand apply" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l token -d 'The bootstrap token to create; "" creates none. Other users of this machine can see arguments; --token-file avoids that. Default: a random token' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l token-file -d 'Read the bootstrap token from a file or, with `-`, from standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l token-ttl -d 'Time until the token expires, such as 2h30m; 0 is never [default: 24h0m0s]' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l pod-network-cidr -d 'Networks of pods, such as 10.244.0.0/16; one of each family, with a comma' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l service-cidr -d 'Networks of services; one of each family, with a comma [default: 10.96.0.0/12]' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l service-dns-domain -d 'DNS domain of services [default: cluster.local]' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l control-plane-endpoint -d 'Endpoint of the cluster: a load balancer, or this machine. Without a port, that of the API server is used' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l apiserver-advertise-address -d 'IP address of this machine\'s API server for other machines. Default: the address of the default route' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l apiserver-bind-port -d 'Port of this machine\'s API server [default: 6443]' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l apiserver-cert-extra-sans -d 'Further names and addresses in the certificate of the API server; may be repeated or a list with commas' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l cert-dir -d 'Directory of certificates and keys; those that it has are used [default: /etc/kubernetes/pki]' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l kubernetes-version -d 'Kubernetes version, such as v1.36.4. Default: the version of this machine\'s kubeadm' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l image-repository -d 'Registry of the images of Kubernetes [default: registry.k8s.io]' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l feature-gates -d 'Feature gates of kubeadm, as NAME=true or NAME=false; may be repeated or a list with commas' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l node-name -d 'Name of the node. Default: the host name' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l cri-socket -d 'Socket of the container runtime. Default: /run/containerd/containerd.sock' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l patches -d 'Directory of kubeadm\'s patches of static pods and of the kubelet\'s configuration' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l ignore-preflight-errors -d 'Preflight checks that may fail, by the names of machineadm or of kubeadm, such as swap or NumCPU; `all` is every one; may be repeated or a list with commas' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l skip-phases -d 'Phases of kubeadm to skip: preflight, addon, addon/coredns, addon/kube-proxy, bootstrap-token, upload-certs; may be repeated or a list with commas' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l upload-certs -d 'Upload the certificates that further control plane nodes need, encrypted, for two hours' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l certificate-key -d 'The certificate key, 64 hexadecimal digits. Other users of this machine can see arguments; --certificate-key-file avoids that' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l certificate-key-file -d 'Read the certificate key from a file or, with `-`, from standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l skip-certificate-key-print -d 'Do not print the certificate key in the join command at the end; with --upload-certs it requires a given key' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l config -d 'Read an InitConfiguration, ClusterConfiguration, KubeletConfiguration and KubeProxyConfiguration of kubeadm, in any API version; `-` is standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l skip-token-print -d 'Do not print the token in the join commands at the end' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l dry-run -d 'Show what would change, and change nothing' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -s o -l output -d 'Output format of the outcome' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l root -d 'Root directory of the machine to work on, instead of the running system [default: /]' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -l print-config -d 'Print the InitConfig document that these flags mean, with its secrets, and change nothing'
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and not __fish_seen_subcommand_from phase" -f -a "phase" -d 'Run one phase of init again'
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and __fish_seen_subcommand_from phase" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and __fish_seen_subcommand_from phase" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and __fish_seen_subcommand_from phase" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and __fish_seen_subcommand_from phase" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand init; and __fish_seen_subcommand_from phase" -f -a "upload-certs" -d 'Upload the certificates again, with a new or a given key'
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l token -d 'The same as --discovery-token. Other users of this machine can see arguments; --token-file avoids that' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l token-file -d 'Read the token from a file or, with `-`, from standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l discovery-token -d 'The bootstrap token that verifies the signature of cluster-info' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l discovery-token-ca-cert-hash -d 'CA pin: the public key hash of a CA certificate of the cluster, as sha256:HEX. May be repeated or a list with commas; one match is enough' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l discovery-token-unsafe-skip-ca-verification -d 'Discover without a CA pin: anyone else who has the token can then pose as the cluster' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l discovery-file -d 'Read the cluster\'s kubeconfig from a file, an https URL or, with `-`, from standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l tls-bootstrap-token -d 'The bootstrap token that authenticates this machine at the API server, if it is not --token' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l tls-bootstrap-token-file -d 'Read that token from a file or, with `-`, from standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l control-plane -d 'Make this machine a control plane node' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l certificate-key -d 'The certificate key, 64 hexadecimal digits. Other users of this machine can see arguments; --certificate-key-file avoids that' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l certificate-key-file -d 'Read the certificate key from a file or, with `-`, from standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l apiserver-advertise-address -d 'IP address of this machine\'s API server and etcd, with --control-plane. Default: the address of the default route' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l apiserver-bind-port -d 'Port of this machine\'s API server, with --control-plane [default: 6443]' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l node-name -d 'Name of the node. Default: the host name' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l cri-socket -d 'Socket of the container runtime. Default: /run/containerd/containerd.sock' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l ignore-preflight-errors -d 'Preflight checks that may fail, by the names of machineadm or of kubeadm, such as swap or NumCPU; `all` is every one; may be repeated or a list with commas' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l skip-phases -d 'Phases of kubeadm to skip: `preflight`; may be repeated or a list with commas' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l patches -d 'Directory of kubeadm\'s patches; those of the kubelet\'s configuration apply to a worker, all with --control-plane' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l config -d 'Read a JoinConfiguration of kubeadm, in any API version; `-` is standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l timeout -d 'Give up discovery after this time, such as 5m or 90s [default: 5m]' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l dry-run -d 'Show what would change, and change nothing' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -s o -l output -d 'Output format of the outcome' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l root -d 'Root directory of the machine to work on, instead of the running system [default: /]' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l accept-untrusted-certificate -d 'With --discovery-file: accept a kubeconfig without CA certificates although the system\'s CA certificates do not verify the API server'
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -l print-config -d 'Print the JoinConfig document that these flags mean, with its token, and change nothing'
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand join" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand reset" -s f -l force -d 'Do not ask for confirmation' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand reset" -l dry-run -d 'Show what would be undone, and change nothing' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand reset" -l cri-socket -d 'Socket of the container runtime. Default: kubeadm looks for it' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand reset" -l kubeconfig -d 'Kubeconfig to ask the cluster for its etcd servers. Default: /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand reset" -l cert-dir -d 'Directory of kubeadm\'s certificates; kubeadm deletes everything in it' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand reset" -l cleanup-tmp-dir -d 'Also delete the content of /etc/kubernetes/tmp; kubeadm 1.26 or newer' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand reset" -l ignore-preflight-errors -d 'Passed on to kubeadm; may be repeated or a list with commas' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand reset" -l config -d 'Not supported: the fields of a ResetConfiguration are flags here' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand reset" -l skip-phases -d 'Not supported: a reset that leaves parts of a node out cannot be continued' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand reset" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand reset" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand reset" -l node-only -d 'Leave what documents wrote: undo only what made this machine a node'
complete -c machineadm -n "__fish_machineadm_using_subcommand reset" -l etcd-member-removed -d 'The etcd member of this machine was removed on another node: delete its data also if etcd does not answer'
complete -c machineadm -n "__fish_machineadm_using_subcommand reset" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand reset" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand reset" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand validate" -s f -l filename -d 'Configuration file, or a directory of *.yaml, *.yml and *.json files; may be repeated; `-` is standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand validate" -s o -l output -d 'Output format of the problems' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand validate" -l root -d 'Root directory of the machine to work on, instead of the running system [default: /]' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand validate" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand validate" -l expand -d 'Also fetch remote documents and decrypt encrypted ones, as bootstrap does'
complete -c machineadm -n "__fish_machineadm_using_subcommand validate" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand validate" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand validate" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -s f -l filename -d 'Documents to encrypt; may be repeated; `-` is standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l provider -d 'Provider of the passphrase: file, descriptor or https' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l passphrase-uri -d 'URI of the passphrase: file:///PATH, fd:N or https://HOST/PATH' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l certificate-authority -d 'CA certificates (PEM) for the https server of the passphrase, instead of the system\'s; stored in the EncryptedConfig' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l iterations -d 'Rounds of the key derivation' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l for-hostname -d 'Allow only the machine with this host name; may be repeated; one matching --for option is enough' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l for-machine-id -d 'Allow only the machine with this /etc/machine-id; may be repeated' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l for-product-uuid -d 'Allow only the machine with this /sys/class/dmi/id/product_uuid; may be repeated' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l not-after -d 'Time when the documents expire, such as 2026-11-17T08:00:00Z' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l valid-for -d 'Time until the documents expire, such as 24h' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l max-age -d 'Maximum age of the documents when they are decrypted, such as 24h' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l name -d 'Name of the EncryptedConfig' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand decrypt" -s f -l filename -d 'File with an EncryptedConfig; may be repeated; `-` is standard input. A TrustBundleConfig or ProxyConfig before it applies to the request for its passphrase' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand decrypt" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand decrypt" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand decrypt" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand decrypt" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand status" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand status" -l bundle -d 'Write an archive (tar.gz, mode 0600) that explains the last run offline; - is standard output' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand status" -l root -d 'Root directory of the machine to work on, instead of the running system [default: /]' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand status" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand status" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand status" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand status" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand explain" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand explain" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand explain" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand explain" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and not __fish_seen_subcommand_from convert validate defaults edit-map import" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and not __fish_seen_subcommand_from convert validate defaults edit-map import" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and not __fish_seen_subcommand_from convert validate defaults edit-map import" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and not __fish_seen_subcommand_from convert validate defaults edit-map import" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and not __fish_seen_subcommand_from convert validate defaults edit-map import" -f -a "convert" -d 'Convert files of any kubeadm API version into the one that a Kubernetes version reads'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and not __fish_seen_subcommand_from convert validate defaults edit-map import" -f -a "validate" -d 'List all problems of kubeadm\'s files'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and not __fish_seen_subcommand_from convert validate defaults edit-map import" -f -a "defaults" -d 'Print a starting configuration with all defaults'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and not __fish_seen_subcommand_from convert validate defaults edit-map import" -f -a "edit-map" -d 'Edit the kubeadm-config ConfigMap for a Kubernetes version'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and not __fish_seen_subcommand_from convert validate defaults edit-map import" -f -a "import" -d 'Import kubeadm\'s files, or a cluster\'s configuration, as documents'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from convert" -l kubernetes-version -d 'The Kubernetes version whose kubeadm will read the result' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from convert" -s f -l filename -d 'A kubeadm file or a directory of them; may be repeated; `-` is standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from convert" -l api-version -d 'Write this kubeadm API version instead, such as the experimental v1' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from convert" -s o -l output -d 'How to print the result: the file alone, or with its flags, losses and notes' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from convert" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from convert" -l allow-loss -d 'Continue without the fields that this kubeadm does not support'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from convert" -l tolerant -d 'Report unknown fields as warnings, as `kubeadm init` does'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from convert" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from convert" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from convert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from validate" -s f -l filename -d 'A kubeadm file or a directory of them; may be repeated; `-` is standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from validate" -l kubernetes-version -d 'Check as the kubeadm of this Kubernetes version does' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from validate" -s o -l output -d 'Output format of the problems' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from validate" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from validate" -l tolerant -d 'Report unknown fields as warnings, as `kubeadm init` does'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from validate" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from validate" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from defaults" -l kubernetes-version -d 'The Kubernetes version whose defaults they are' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from defaults" -s o -l output -d 'How to print them' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from defaults" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from defaults" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from defaults" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from defaults" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -s f -l filename -d 'Edit the ConfigMap in this file, YAML or JSON, and print it; `-` is standard input. Without it, the ConfigMap of the cluster is edited' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l kubernetes-version -d 'The Kubernetes version that the control plane is going to have' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l image-repository -d 'The registry of all images' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l dns-image-repository -d 'The registry of CoreDNS' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l dns-image-tag -d 'The image tag of CoreDNS' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l etcd-image-repository -d 'The registry of an etcd that kubeadm runs' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l etcd-image-tag -d 'The image tag of an etcd that kubeadm runs' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l feature-gate -d 'A feature gate, set or (NAME-) removed; may be repeated' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l api-server-arg -d 'An argument of the API server, set or (NAME-) removed; may be repeated' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l controller-manager-arg -d 'An argument of the controller manager, set or (NAME-) removed; may be repeated' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l scheduler-arg -d 'An argument of the scheduler, set or (NAME-) removed; may be repeated' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l etcd-arg -d 'An argument of an etcd that kubeadm runs, set or (NAME-) removed; may be repeated' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l etcd-endpoint -d 'An endpoint of an external etcd; repeat it for all of them' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l encryption-algorithm -d 'The algorithm of keys and certificates' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l certificate-validity-period -d 'How long certificates are valid, such as 4380h' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l ca-certificate-validity-period -d 'How long certificate authorities are valid' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l certificates-dir -d 'The directory of certificates and keys' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l remove-api-endpoint -d 'Remove a node\'s API server from the ClusterStatus; only below Kubernetes 1.22, later versions do not read it' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l dry-run -d 'Show the changes, let the API server check them, and change nothing'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l allow-loss -d 'Continue without the fields that this kubeadm does not support'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from import" -s f -l filename -d 'A kubeadm file of any API version; may be repeated; `-` is standard input. Repeated files are one configuration' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from import" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from import" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from import" -l kind -d 'What the document is for. Required for files that are for both' -r -f -a "init\t'The first node of a control plane: InitConfig'
join\t'A worker or a further control plane node: JoinConfig'"
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from import" -l kubernetes-version -d 'Kubernetes version of the document. Default: the version that the files name' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from import" -s o -l output -d 'How to print the result: the document alone, or with losses and notes' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from import" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from import" -l from-cluster -d 'Read the ConfigMaps kubeadm-config, kubelet-config and kube-proxy of the cluster instead of files'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from import" -l allow-loss -d 'Continue without the fields that have no place in the document'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from import" -l tolerant -d 'Report unknown fields as warnings, as `kubeadm init` does'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from import" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from import" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate" -l dry-run -d 'Let the API server check the request, and change nothing' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate" -f -a "create" -d 'Create a token on the cluster and print it'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate" -f -a "list" -d 'List the tokens of the cluster'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate" -f -a "delete" -d 'Delete tokens by id or by the full token'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate" -f -a "generate" -d 'Print a new random token without contacting a cluster'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l usages -d 'What the token may be used for' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l ttl -d 'Time until the token expires, such as 2h30m; 0 is never' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l description -d 'A description of what the token is for' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l groups -d 'Groups of clients that authenticate with the token. Default: kubeadm\'s group for nodes' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l print-join-command -d 'Print the kubeadm join command instead of the token' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l certificate-key -d 'The certificate key for the join command of a control plane node' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l config -d 'Create the tokens of an InitConfiguration; a random one if it has none' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -s o -l output -d 'Output format of each token and its settings' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l dry-run -d 'Let the API server check the request, and change nothing' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from list" -s o -l output -d 'text, json, yaml, or jsonpath=TEMPLATE' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from list" -l allow-missing-template-keys -d 'Missing fields are empty in a template; with =false they are an error' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from list" -l show-managed-fields -d 'No effect: the output has no managed fields; accepted since kubeadm has it' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from list" -l dry-run -d 'Let the API server check the request, and change nothing' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from list" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from list" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from list" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from delete" -s o -l output -d 'Output format of the result for each token' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from delete" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from delete" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from delete" -l dry-run -d 'Let the API server check the request, and change nothing' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from delete" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from delete" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from delete" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from delete" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from generate" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from generate" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from generate" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from generate" -l dry-run -d 'Let the API server check the request, and change nothing' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from generate" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from generate" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from generate" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from generate" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and not __fish_seen_subcommand_from key upload download list delete" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and not __fish_seen_subcommand_from key upload download list delete" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and not __fish_seen_subcommand_from key upload download list delete" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and not __fish_seen_subcommand_from key upload download list delete" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and not __fish_seen_subcommand_from key upload download list delete" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and not __fish_seen_subcommand_from key upload download list delete" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and not __fish_seen_subcommand_from key upload download list delete" -f -a "key" -d 'Print a new random certificate key without contacting a cluster'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and not __fish_seen_subcommand_from key upload download list delete" -f -a "upload" -d 'Encrypt this node\'s certificates and upload them for two hours'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and not __fish_seen_subcommand_from key upload download list delete" -f -a "download" -d 'Download, decrypt and save the certificates of a control plane node'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and not __fish_seen_subcommand_from key upload download list delete" -f -a "list" -d 'Show whether certificates are uploaded, and when they are deleted'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and not __fish_seen_subcommand_from key upload download list delete" -f -a "delete" -d 'Delete uploaded certificates before they expire'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from key" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from key" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from key" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from key" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from key" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from key" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from key" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from upload" -l certificate-key -d 'The certificate key, 64 hexadecimal digits. Other users of this machine can see arguments; --certificate-key-file avoids that' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from upload" -l certificate-key-file -d 'Read the certificate key from a file or, with `-`, from standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from upload" -l skip-certificate-key-print -d 'Do not print the certificate key; requires a given one' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from upload" -l cert-dir -d 'The directory of this node\'s certificates. Default: as in kubeadm-config of the cluster' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from upload" -l config -d 'Read certificateKey of an InitConfiguration, and directory and etcd of a ClusterConfiguration; `-` is standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from upload" -l cleanup-timeout -d 'How long the cluster may take to delete an expired token and what it owns, at most 5m0s' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from upload" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from upload" -l root -d 'Root directory of the machine to work on, instead of the running system [default: /]' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from upload" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from upload" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from upload" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from upload" -l accept-missing-cleanup -d 'Upload although the cluster does not delete expired tokens and what they own: nothing then deletes the certificates'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from upload" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from upload" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from upload" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -l token -d 'The same as --discovery-token. Other users of this machine can see arguments; --token-file avoids that' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -l token-file -d 'Read the token from a file or, with `-`, from standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -l discovery-token -d 'The bootstrap token that verifies the signature of cluster-info' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -l discovery-token-ca-cert-hash -d 'CA pin: the public key hash of a CA certificate of the cluster, as sha256:HEX. May be repeated or a list with commas; one match is enough' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -l discovery-token-unsafe-skip-ca-verification -d 'Discover without a CA pin: anyone else who has the token can then pose as the cluster' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -l discovery-file -d 'Read the cluster\'s kubeconfig from a file, an https URL or, with `-`, from standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -l tls-bootstrap-token -d 'The bootstrap token that authenticates this machine at the API server, if it is not --token' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -l tls-bootstrap-token-file -d 'Read that token from a file or, with `-`, from standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -l certificate-key -d 'The certificate key, 64 hexadecimal digits. Other users of this machine can see arguments; --certificate-key-file avoids that' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -l certificate-key-file -d 'Read the certificate key from a file or, with `-`, from standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -l cert-dir -d 'Save the certificates in this directory. Default: as in kubeadm-config of the cluster' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -l config -d 'Read discovery, token and certificateKey of a JoinConfiguration; `-` is standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -l timeout -d 'Give up discovery after this time, such as 5m, 90s or 500ms' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -l root -d 'Root directory of the machine to work on, instead of the running system [default: /]' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -l accept-untrusted-certificate -d 'With --discovery-file: accept a kubeconfig without CA certificates although the system\'s CA certificates do not verify the API server'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -l force -d 'Replace files that exist with other content'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from download" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from list" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from list" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from list" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from list" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from delete" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from delete" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from delete" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from delete" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from delete" -l dry-run -d 'Let the API server check the request, and change nothing'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from delete" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from delete" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand certs; and __fish_seen_subcommand_from delete" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and not __fish_seen_subcommand_from list remove" -l kubeconfig -d 'The kubeconfig of the cluster\'s administrator' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and not __fish_seen_subcommand_from list remove" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and not __fish_seen_subcommand_from list remove" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and not __fish_seen_subcommand_from list remove" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and not __fish_seen_subcommand_from list remove" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and not __fish_seen_subcommand_from list remove" -f -a "list" -d 'List etcd members and control plane nodes with their state'
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and not __fish_seen_subcommand_from list remove" -f -a "remove" -d 'Remove a lost control plane node from etcd and the cluster'
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and __fish_seen_subcommand_from list" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and __fish_seen_subcommand_from list" -l kubeconfig -d 'The kubeconfig of the cluster\'s administrator' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and __fish_seen_subcommand_from list" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and __fish_seen_subcommand_from remove" -s o -l output -d 'Output format of the result' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and __fish_seen_subcommand_from remove" -l kubeconfig -d 'The kubeconfig of the cluster\'s administrator' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and __fish_seen_subcommand_from remove" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and __fish_seen_subcommand_from remove" -l dry-run -d 'Show what would be removed, and change nothing'
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and __fish_seen_subcommand_from remove" -l force -d 'Remove a node that still runs: its etcd member answers, or its Node object is Ready'
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and __fish_seen_subcommand_from remove" -s y -l yes -d 'Do not ask for confirmation; required if standard input and standard error are not a terminal'
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and __fish_seen_subcommand_from remove" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and __fish_seen_subcommand_from remove" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand control-plane; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l token -d 'The same as --discovery-token. Other users of this machine can see arguments; --token-file avoids that' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l token-file -d 'Read the token from a file or, with `-`, from standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l discovery-token -d 'The bootstrap token that verifies the signature of cluster-info' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l discovery-token-ca-cert-hash -d 'CA pin: the public key hash of a CA certificate of the cluster, as sha256:HEX. May be repeated or a list with commas; one match is enough' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l discovery-token-unsafe-skip-ca-verification -d 'Discover without a CA pin: anyone else who has the token can then pose as the cluster' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l discovery-file -d 'Read the cluster\'s kubeconfig from a file, an https URL or, with `-`, from standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l timeout -d 'Give up after this time, such as 5m, 90s or 500ms' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -s o -l output -d 'Output format. Default: text for people' -r -f -a "json\t'JSON'
yaml\t'YAML'
kubeconfig\t'The kubeconfig itself, without credentials'"
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l root -d 'Root directory of the machine to work on, instead of the running system [default: /]' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l accept-untrusted-certificate -d 'With --discovery-file: accept a kubeconfig without CA certificates although the system\'s CA certificates do not verify the API server'
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l store -d 'Save the discovered cluster on this machine. A saved cluster is replaced only if the new one can be reached'
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l refresh -d 'Update the saved cluster: ask it whether its address or its CA certificates have changed'
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l accept-unpinned-roots -d 'With --refresh or --store: accept CA certificates of which none is pinned'
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand discovery-objects" -l server -d 'The https URL of the API server to publish. Default: the server of the kubeconfig' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand discovery-objects" -l ca-file -d 'The CA certificates to publish, in PEM. Default: those of the kubeconfig' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand discovery-objects" -s o -l output -d 'Output format of the result for each object' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand discovery-objects" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand discovery-objects" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand discovery-objects" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand discovery-objects" -l dry-run -d 'Let the API server check the objects, and change nothing'
complete -c machineadm -n "__fish_machineadm_using_subcommand discovery-objects" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand discovery-objects" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand discovery-objects" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand generate" -l kubernetes-version -d 'The Kubernetes version of the new cluster' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand generate" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand generate" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand generate" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand generate" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand version" -s o -l output -d 'Output format' -r -f -a "json\t''
yaml\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand version" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand version" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand version" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand version" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand completion" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand completion" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand completion" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand completion" -s h -l help -d 'Print help'
complete -c machineadm -n "__fish_machineadm_using_subcommand help" -l log-format -d 'Form of progress, warnings and errors on standard error; json is one object per line' -r -f -a "text\t''
json\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand help" -s v -l verbose -d 'Print every document and step, also those with nothing to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand help" -s q -l quiet -d 'Print no progress, only warnings and errors'
complete -c machineadm -n "__fish_machineadm_using_subcommand help" -s h -l help -d 'Print help'
