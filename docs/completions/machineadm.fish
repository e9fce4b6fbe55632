# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_machineadm_global_optspecs
    string join \n bootstrap path= root= mode= h/help V/version
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

complete -c machineadm -n "__fish_machineadm_needs_command" -l path -d 'The configuration for --bootstrap; `-` is standard input' -r
complete -c machineadm -n "__fish_machineadm_needs_command" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_needs_command" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_needs_command" -l bootstrap -d 'Bootstrap this machine; the specified call, the same as `machineadm bootstrap -f FILE`'
complete -c machineadm -n "__fish_machineadm_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_needs_command" -s V -l version -d 'Print version'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "bootstrap" -d 'Make this machine what its configuration says'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "plan" -d 'Show what bootstrap would change, and change nothing'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "apply" -d 'Do exactly what a reviewed plan says, or refuse because the machine has changed since'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "validate" -d 'List everything that is wrong with a configuration'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "encrypt" -d 'Seal documents with a passphrase, so that only who has it can read them'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "decrypt" -d 'Open sealed documents and print them'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "status" -d 'Tell what the last run did, and where it stopped'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "explain" -d 'Explain a document kind or one of its fields'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "config" -d 'Convert, check and edit kubeadm\'s configuration files'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "token" -d 'Make, list and delete the bootstrap tokens of a cluster'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "discover" -d 'Find a cluster, prove that it is the right one, and say how'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "discovery-objects" -d 'Make what a cluster needs so that machines can discover and join it: cluster-info, roles and bindings'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "version" -d 'Print the version'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "completion" -d 'Print a completion script for a shell'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -s f -l filename -d 'The configuration; may be repeated; `-` is standard input. Without it: that of an interrupted run' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -l abandon -d 'Forget a command that was interrupted and that this configuration no longer has; may be repeated' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -s o -l output -d 'How to print the outcome' -r -f -a "json\t'JSON'
yaml\t'YAML'"
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -l prune -d 'Restore or delete what earlier documents wrote and this configuration no longer names; only with --mode post'
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand plan" -s f -l filename -d 'The configuration; may be repeated; `-` is standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand plan" -s o -l output -d 'How to print it' -r -f -a "json\t'JSON'
yaml\t'YAML'"
complete -c machineadm -n "__fish_machineadm_using_subcommand plan" -l out -d 'Save the plan in a file, for review and `machineadm apply`; it holds the configuration, so it is secret' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand plan" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand plan" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand plan" -l exit-code -d 'End with exit code 3 when there is something to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand plan" -l prune -d 'Restore or delete what earlier documents wrote and this configuration no longer names; only with --mode post'
complete -c machineadm -n "__fish_machineadm_using_subcommand plan" -l no-commands -d 'Do not execute any `unless`; such commands show as "not checked"'
complete -c machineadm -n "__fish_machineadm_using_subcommand plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand apply" -s o -l output -d 'How to print the outcome' -r -f -a "json\t'JSON'
yaml\t'YAML'"
complete -c machineadm -n "__fish_machineadm_using_subcommand apply" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand apply" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand validate" -s f -l filename -d 'The configuration; may be repeated; `-` is standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand validate" -s o -l output -d 'How to print the problems' -r -f -a "json\t'JSON'
yaml\t'YAML'"
complete -c machineadm -n "__fish_machineadm_using_subcommand validate" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand validate" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand validate" -l expand -d 'Also fetch and open what the configuration points to and seals, as bootstrap would'
complete -c machineadm -n "__fish_machineadm_using_subcommand validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -s f -l filename -d 'The documents to seal; may be repeated; `-` is standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l provider -d 'Who fetches the passphrase: file, descriptor or https' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l passphrase-uri -d 'Where the passphrase is: file:///PATH, fd:N or https://HOST/PATH' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l certificate-authority -d 'Certificates in PEM that alone may vouch for the server of the passphrase; the EncryptedConfig names them too' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l iterations -d 'Rounds of the key\'s derivation' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l for-hostname -d 'Only for the machine of this host name; may be repeated, and any of the --for options is enough' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l for-machine-id -d 'Only for the machine with this /etc/machine-id; may be repeated' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l for-product-uuid -d 'Only for the machine with this /sys/class/dmi/id/product_uuid; may be repeated' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l not-after -d 'Until when the documents hold, such as 2026-11-17T08:00:00Z' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l valid-for -d 'For how long from now on the documents hold, such as 24h' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l max-age -d 'How old the documents may be when they are opened, such as 24h' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l name -d 'The name of the EncryptedConfig' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand encrypt" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand decrypt" -s f -l filename -d 'A file with an EncryptedConfig; may be repeated; `-` is standard input; a TrustBundleConfig or ProxyConfig before it counts for its passphrase' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand decrypt" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand decrypt" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand decrypt" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand status" -s o -l output -d 'How to print it' -r -f -a "json\t'JSON'
yaml\t'YAML'"
complete -c machineadm -n "__fish_machineadm_using_subcommand status" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand status" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand explain" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand explain" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and not __fish_seen_subcommand_from convert validate defaults edit-map help" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and not __fish_seen_subcommand_from convert validate defaults edit-map help" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and not __fish_seen_subcommand_from convert validate defaults edit-map help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and not __fish_seen_subcommand_from convert validate defaults edit-map help" -f -a "convert" -d 'Convert files of any kubeadm API version into the one that a Kubernetes version reads'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and not __fish_seen_subcommand_from convert validate defaults edit-map help" -f -a "validate" -d 'List all problems of kubeadm\'s files'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and not __fish_seen_subcommand_from convert validate defaults edit-map help" -f -a "defaults" -d 'Print a starting configuration with all defaults'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and not __fish_seen_subcommand_from convert validate defaults edit-map help" -f -a "edit-map" -d 'Edit the kubeadm-config ConfigMap for a Kubernetes version'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and not __fish_seen_subcommand_from convert validate defaults edit-map help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from convert" -l kubernetes-version -d 'The Kubernetes version whose kubeadm will read the result' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from convert" -s f -l filename -d 'A kubeadm file; repeated ones are one configuration; of a directory each file is one; `-` is standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from convert" -l api-version -d 'Write this kubeadm API version instead, such as the experimental v1' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from convert" -s o -l output -d 'How to print the result: the file alone, or with its flags, losses and notes' -r -f -a "json\t'JSON'
yaml\t'YAML'"
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from convert" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from convert" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from convert" -l allow-loss -d 'Continue without the fields that this kubeadm does not support'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from convert" -l tolerant -d 'Go on without fields that do not exist, as `kubeadm init` does'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from convert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from validate" -s f -l filename -d 'A kubeadm file; repeated ones are one configuration; of a directory each file is one; `-` is standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from validate" -l kubernetes-version -d 'Check as the kubeadm of this Kubernetes version does' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from validate" -s o -l output -d 'How to print the problems' -r -f -a "json\t'JSON'
yaml\t'YAML'"
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from validate" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from validate" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from validate" -l tolerant -d 'Only warn about fields that do not exist, as `kubeadm init` does'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from defaults" -l kubernetes-version -d 'The Kubernetes version whose defaults they are' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from defaults" -s o -l output -d 'How to print them' -r -f -a "json\t'JSON'
yaml\t'YAML'"
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from defaults" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from defaults" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from defaults" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -s f -l filename -d 'Edit the ConfigMap in this file, YAML or JSON, and print it; `-` is standard input. Without it, the ConfigMap of the cluster is edited' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l kubernetes-version -d 'The Kubernetes version that the control plane is going to have' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l image-repository -d 'The registry of all images' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l dns-image-repository -d 'CoreDNS\'s registry' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l dns-image-tag -d 'CoreDNS\'s image tag' -r
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
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l dry-run -d 'Show the changes, let the API server check them, and change nothing'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -l allow-loss -d 'Continue without the fields that this kubeadm does not support'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from edit-map" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "convert" -d 'Convert files of any kubeadm API version into the one that a Kubernetes version reads'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "validate" -d 'List all problems of kubeadm\'s files'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "defaults" -d 'Print a starting configuration with all defaults'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "edit-map" -d 'Edit the kubeadm-config ConfigMap for a Kubernetes version'
complete -c machineadm -n "__fish_machineadm_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate help" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate help" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate help" -l dry-run -d 'Let the API server check the request, and change nothing' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate help" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate help" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate help" -f -a "create" -d 'Create a token on the cluster and print it'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate help" -f -a "list" -d 'List the tokens of the cluster'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate help" -f -a "delete" -d 'Delete tokens by id or by the full token'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate help" -f -a "generate" -d 'Print a new random token without contacting a cluster'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and not __fish_seen_subcommand_from create list delete generate help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l usages -d 'What the token may be used for' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l ttl -d 'Time until the token expires, such as 2h30m; 0 is never' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l description -d 'A description of what the token is for' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l groups -d 'Groups of clients that authenticate with the token. Default: kubeadm\'s group for nodes' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l print-join-command -d 'Print the kubeadm join command instead of the token' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l certificate-key -d 'The certificate key for the join command of a control plane node' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l config -d 'Create the tokens of an InitConfiguration; a random one if it has none' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -s o -l output -d 'Output format of each token and its settings' -r -f -a "json\t'JSON'
yaml\t'YAML'"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l dry-run -d 'Let the API server check the request, and change nothing' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from list" -s o -l output -d 'text, json, yaml, or jsonpath=TEMPLATE' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from list" -l allow-missing-template-keys -d 'Missing fields are empty in a template; with =false they are an error' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from list" -l show-managed-fields -d 'No effect: the output has no managed fields; accepted since kubeadm has it' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from list" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from list" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from list" -l dry-run -d 'Let the API server check the request, and change nothing' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from list" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from list" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from delete" -s o -l output -d 'Output format of the result for each token' -r -f -a "json\t'JSON'
yaml\t'YAML'"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from delete" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from delete" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from delete" -l dry-run -d 'Let the API server check the request, and change nothing' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from delete" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from delete" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from delete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from generate" -s o -l output -d 'Output format' -r -f -a "json\t'JSON'
yaml\t'YAML'"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from generate" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from generate" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from generate" -l dry-run -d 'Let the API server check the request, and change nothing' -r -f -a "true\t''
false\t''"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from generate" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from generate" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from generate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from help" -f -a "create" -d 'Create a token on the cluster and print it'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the tokens of the cluster'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from help" -f -a "delete" -d 'Delete tokens by id or by the full token'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from help" -f -a "generate" -d 'Print a new random token without contacting a cluster'
complete -c machineadm -n "__fish_machineadm_using_subcommand token; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l token -d 'The same as --discovery-token. Other users of this machine can see arguments; --token-file avoids that' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l token-file -d 'Read the token from a file or, with `-`, from standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l discovery-token -d 'The bootstrap token that verifies the signature of cluster-info' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l discovery-token-ca-cert-hash -d 'CA pin: the public key hash of a CA certificate of the cluster, as sha256:HEX. May be repeated or a list with commas; one match is enough' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l discovery-file -d 'Read the cluster\'s kubeconfig from a file, an https URL or, with `-`, from standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l timeout -d 'Give up after this time, such as 5m, 90s or 500ms' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -s o -l output -d 'Output format. Default: text for people' -r -f -a "json\t'JSON'
yaml\t'YAML'
kubeconfig\t'The kubeconfig itself, without credentials'"
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l discovery-token-unsafe-skip-ca-verification -d 'Discover without a CA pin: anyone else who has the token can then pose as the cluster'
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l store -d 'Save the discovered cluster on this machine. A saved cluster is replaced only if the new one can be reached'
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l refresh -d 'Update the saved cluster: ask it whether its address or its CA certificates have changed'
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l accept-untrusted-certificate -d 'With --discovery-file: accept a kubeconfig without CA certificates although the system\'s CA certificates do not verify the API server'
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -l accept-unpinned-roots -d 'With --refresh or --store: accept CA certificates of which none is pinned'
complete -c machineadm -n "__fish_machineadm_using_subcommand discover" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand discovery-objects" -l server -d 'The https URL of the API server to publish. Default: the server of the kubeconfig' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand discovery-objects" -l ca-file -d 'The CA certificates to publish, in PEM. Default: those of the kubeconfig' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand discovery-objects" -s o -l output -d 'Output format of the result for each object' -r -f -a "json\t'JSON'
yaml\t'YAML'"
complete -c machineadm -n "__fish_machineadm_using_subcommand discovery-objects" -l kubeconfig -d 'The kubeconfig of the cluster. Default: the first file that exists of $KUBECONFIG (a list with `:`) or, if it is not set, ~/.kube/config, then /etc/kubernetes/admin.conf' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand discovery-objects" -l context -d 'The context of the kubeconfig to use. Default: its current-context' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand discovery-objects" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand discovery-objects" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand discovery-objects" -l dry-run -d 'Let the API server check the objects, and change nothing'
complete -c machineadm -n "__fish_machineadm_using_subcommand discovery-objects" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand version" -s o -l output -d 'How to print it' -r -f -a "json\t'JSON'
yaml\t'YAML'"
complete -c machineadm -n "__fish_machineadm_using_subcommand version" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand version" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand version" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand completion" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand completion" -l mode -d 'Lifecycle stage to run: prepare, provision or post' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand completion" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate encrypt decrypt status explain config token discover discovery-objects version completion help" -f -a "bootstrap" -d 'Make this machine what its configuration says'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate encrypt decrypt status explain config token discover discovery-objects version completion help" -f -a "plan" -d 'Show what bootstrap would change, and change nothing'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate encrypt decrypt status explain config token discover discovery-objects version completion help" -f -a "apply" -d 'Do exactly what a reviewed plan says, or refuse because the machine has changed since'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate encrypt decrypt status explain config token discover discovery-objects version completion help" -f -a "validate" -d 'List everything that is wrong with a configuration'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate encrypt decrypt status explain config token discover discovery-objects version completion help" -f -a "encrypt" -d 'Seal documents with a passphrase, so that only who has it can read them'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate encrypt decrypt status explain config token discover discovery-objects version completion help" -f -a "decrypt" -d 'Open sealed documents and print them'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate encrypt decrypt status explain config token discover discovery-objects version completion help" -f -a "status" -d 'Tell what the last run did, and where it stopped'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate encrypt decrypt status explain config token discover discovery-objects version completion help" -f -a "explain" -d 'Explain a document kind or one of its fields'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate encrypt decrypt status explain config token discover discovery-objects version completion help" -f -a "config" -d 'Convert, check and edit kubeadm\'s configuration files'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate encrypt decrypt status explain config token discover discovery-objects version completion help" -f -a "token" -d 'Make, list and delete the bootstrap tokens of a cluster'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate encrypt decrypt status explain config token discover discovery-objects version completion help" -f -a "discover" -d 'Find a cluster, prove that it is the right one, and say how'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate encrypt decrypt status explain config token discover discovery-objects version completion help" -f -a "discovery-objects" -d 'Make what a cluster needs so that machines can discover and join it: cluster-info, roles and bindings'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate encrypt decrypt status explain config token discover discovery-objects version completion help" -f -a "version" -d 'Print the version'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate encrypt decrypt status explain config token discover discovery-objects version completion help" -f -a "completion" -d 'Print a completion script for a shell'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate encrypt decrypt status explain config token discover discovery-objects version completion help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "convert" -d 'Convert files of any kubeadm API version into the one that a Kubernetes version reads'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "validate" -d 'List all problems of kubeadm\'s files'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "defaults" -d 'Print a starting configuration with all defaults'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "edit-map" -d 'Edit the kubeadm-config ConfigMap for a Kubernetes version'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and __fish_seen_subcommand_from token" -f -a "create" -d 'Create a token on the cluster and print it'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and __fish_seen_subcommand_from token" -f -a "list" -d 'List the tokens of the cluster'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and __fish_seen_subcommand_from token" -f -a "delete" -d 'Delete tokens by id or by the full token'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and __fish_seen_subcommand_from token" -f -a "generate" -d 'Print a new random token without contacting a cluster'
