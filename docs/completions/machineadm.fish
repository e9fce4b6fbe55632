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
complete -c machineadm -n "__fish_machineadm_needs_command" -l mode -d 'When in its life the machine is' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_needs_command" -l bootstrap -d 'Bootstrap this machine; the specified call, the same as `machineadm bootstrap -f FILE`'
complete -c machineadm -n "__fish_machineadm_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_needs_command" -s V -l version -d 'Print version'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "bootstrap" -d 'Make this machine what its configuration says'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "plan" -d 'Show what bootstrap would change, and change nothing'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "apply" -d 'Do exactly what a reviewed plan says, or refuse because the machine has changed since'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "validate" -d 'List everything that is wrong with a configuration'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "status" -d 'Tell what the last run did, and where it stopped'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "explain" -d 'Explain a document kind or one of its fields'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "version" -d 'Print the version'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "completion" -d 'Print a completion script for a shell'
complete -c machineadm -n "__fish_machineadm_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -s f -l filename -d 'The configuration; may be repeated; `-` is standard input. Without it: that of a run that was cut short' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -s o -l output -d 'How to print the outcome' -r -f -a "json\t'JSON'
yaml\t'YAML'"
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -l mode -d 'When in its life the machine is' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand bootstrap" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand plan" -s f -l filename -d 'The configuration; may be repeated; `-` is standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand plan" -s o -l output -d 'How to print it' -r -f -a "json\t'JSON'
yaml\t'YAML'"
complete -c machineadm -n "__fish_machineadm_using_subcommand plan" -l out -d 'Keep the plan in a file, for review and `machineadm apply`; it holds the configuration, so it is secret' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand plan" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand plan" -l mode -d 'When in its life the machine is' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand plan" -l exit-code -d 'End with exit code 3 when there is something to do'
complete -c machineadm -n "__fish_machineadm_using_subcommand plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand apply" -s o -l output -d 'How to print the outcome' -r -f -a "json\t'JSON'
yaml\t'YAML'"
complete -c machineadm -n "__fish_machineadm_using_subcommand apply" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand apply" -l mode -d 'When in its life the machine is' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand validate" -s f -l filename -d 'The configuration; may be repeated; `-` is standard input' -r
complete -c machineadm -n "__fish_machineadm_using_subcommand validate" -s o -l output -d 'How to print the problems' -r -f -a "json\t'JSON'
yaml\t'YAML'"
complete -c machineadm -n "__fish_machineadm_using_subcommand validate" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand validate" -l mode -d 'When in its life the machine is' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand status" -s o -l output -d 'How to print it' -r -f -a "json\t'JSON'
yaml\t'YAML'"
complete -c machineadm -n "__fish_machineadm_using_subcommand status" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand status" -l mode -d 'When in its life the machine is' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand explain" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand explain" -l mode -d 'When in its life the machine is' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand version" -s o -l output -d 'How to print it' -r -f -a "json\t'JSON'
yaml\t'YAML'"
complete -c machineadm -n "__fish_machineadm_using_subcommand version" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand version" -l mode -d 'When in its life the machine is' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand version" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand completion" -l root -d 'Work on the tree below DIR instead of the running system' -r -F
complete -c machineadm -n "__fish_machineadm_using_subcommand completion" -l mode -d 'When in its life the machine is' -r -f -a "prepare\t'Make it fit for Kubernetes'
provision\t'Make it a node'
post\t'Keep what was prepared as it is'"
complete -c machineadm -n "__fish_machineadm_using_subcommand completion" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate status explain version completion help" -f -a "bootstrap" -d 'Make this machine what its configuration says'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate status explain version completion help" -f -a "plan" -d 'Show what bootstrap would change, and change nothing'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate status explain version completion help" -f -a "apply" -d 'Do exactly what a reviewed plan says, or refuse because the machine has changed since'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate status explain version completion help" -f -a "validate" -d 'List everything that is wrong with a configuration'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate status explain version completion help" -f -a "status" -d 'Tell what the last run did, and where it stopped'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate status explain version completion help" -f -a "explain" -d 'Explain a document kind or one of its fields'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate status explain version completion help" -f -a "version" -d 'Print the version'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate status explain version completion help" -f -a "completion" -d 'Print a completion script for a shell'
complete -c machineadm -n "__fish_machineadm_using_subcommand help; and not __fish_seen_subcommand_from bootstrap plan apply validate status explain version completion help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
