module pins

go 1.22.0

require (
	google.golang.org/grpc v1.65.0
	k8s.io/cri-api v0.30.14
)

require (
	github.com/gogo/protobuf v1.3.2 // indirect
	golang.org/x/net v0.25.0 // indirect
	golang.org/x/sys v0.20.0 // indirect
	golang.org/x/text v0.15.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20240528184218-531527333157 // indirect
	google.golang.org/protobuf v1.34.1 // indirect
)
