# Looks at the disk of a machine that is off.
set -eu
mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$DISK/upper,workdir=$DISK/work" "$DISK/root"
for own in $OWN_DISK; do
    mkdir -p "$DISK/root${own#*:}"
    mount --bind "$DISK/${own%%:*}" "$DISK/root${own#*:}"
done
mount -t proc -o ro proc "$DISK/root/proc"
mount --rbind /dev "$DISK/root/dev"
exec chroot "$DISK/root" "$@"
