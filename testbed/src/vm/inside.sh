# Runs test programs one after another inside the virtual machine and reports each on standard output.
# Each line of `programs` is: name, who manages control groups, path, arguments.
set -u
cd "$(dirname "$0")" || exit 1
echo ">>> control groups: $(stat --file-system --format=%T /sys/fs/cgroup)"
# As testbed/setup does on a host.
echo 1024 >/proc/sys/fs/inotify/max_user_instances
while read -r name manager program arguments; do
    echo ">>> start $name"
    # Words of the list are separated by spaces.
    set -- "$program" $arguments
    if [ "$manager" = nobody ]; then
        set -- unshare --mount sh -c 'mount -t tmpfs tmpfs /run/systemd && exec "$@"' hide "$@"
    fi
    "$@" </dev/null 2>&1
    echo ">>> end $name $?"
done <programs
sync
