# Runs test programs one after another inside the virtual machine and reports each on standard output.
# Each line of `programs` is: name, path, arguments.
set -u
cd "$(dirname "$0")" || exit 1
echo ">>> control groups: $(stat --file-system --format=%T /sys/fs/cgroup)"
while read -r name program arguments; do
    echo ">>> start $name"
    # Words of the list are separated by spaces.
    "$program" $arguments </dev/null 2>&1
    echo ">>> end $name $?"
done <programs
sync
