module pins

go 1.21

require go.etcd.io/etcd/server/v3 v3.5.15
