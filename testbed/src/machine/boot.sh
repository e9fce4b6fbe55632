# Becomes a machine: enters its control groups, mounts its root where nobody else sees it, boots it.
set -eu
for group in $CONTROL_GROUPS; do
    echo $$ > "$group/cgroup.procs"
done
mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$DISK/upper,workdir=$DISK/work" "$DISK/root"
exec systemd-nspawn --directory="$DISK/root" "$@"
