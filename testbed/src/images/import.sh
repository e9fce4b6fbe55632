# Imports all tars below $2/tars into a fresh store at $2/store, by the containerd in $1.
set -eu
programs=$1 place=$2
run=$(mktemp -d)
cat > "$run/config.toml" <<CONFIG
version = 3
root = '$place/store'
state = '$run/state'
disabled_plugins = ['io.containerd.grpc.v1.cri', 'io.containerd.cri.v1.images', 'io.containerd.cri.v1.runtime']
[grpc]
  address = '$run/socket'
[ttrpc]
  address = '$run/ttrpc'
CONFIG
"$programs/containerd" --config "$run/config.toml" > "$run/log" 2>&1 &
containerd=$!
trap 'kill $containerd; wait $containerd; rm -rf "$run"' EXIT
tries=0
until "$programs/ctr" --address "$run/socket" version > /dev/null 2>&1; do
    tries=$((tries + 1))
    if [ $tries -gt 300 ] || ! kill -0 $containerd; then
        cat "$run/log" >&2
        exit 1
    fi
    sleep 0.1
done
for tar in "$place"/tars/*.tar; do
    "$programs/ctr" --address "$run/socket" --namespace k8s.io images import "$tar"
done
