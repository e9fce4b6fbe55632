# Runs Ignition on the disk of a machine that is off, from outside its root, as an initramfs does.
set -eu
mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$DISK/upper,workdir=$DISK/work" "$DISK/root"
work=$DISK/ignition
mkdir -p "$work/bin" "$DISK/root/etc/selinux"
cat > "$work/config.ign"
# What the image of such a system has: a first boot is known by this, and only what is asked for is enabled at it.
echo uninitialized > "$DISK/root/etc/machine-id"
mkdir -p "$DISK/root/etc/systemd/system-preset"
echo 'disable *' > "$DISK/root/etc/systemd/system-preset/89-testbed.preset"
# On a kernel with SELinux Ignition labels what it wrote; these machines have no policy, so that setfiles is a fake.
echo SELINUXTYPE=none > "$DISK/root/etc/selinux/config"
printf '#!/bin/sh\n' > "$work/bin/setfiles"
chmod 755 "$work/bin/setfiles"
export PATH="$work/bin:$PATH" IGNITION_CONFIG_FILE="$work/config.ign"
for stage in fetch files; do
    "$1" -platform file -stage "$stage" -root "$DISK/root" -config-cache "$work/cache" -state-file "$work/state" \
        -neednet "$work/neednet" -log-to-stdout
done
