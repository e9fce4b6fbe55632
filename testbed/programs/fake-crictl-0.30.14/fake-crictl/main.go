// fake-crictl stands in for crictl, whose source no module proxy has: kubeadm up to 1.30 starts it. It knows only the calls
// of kubeadm, and asks the real container runtime over CRI.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fake-crictl:", err)
		os.Exit(1)
	}
}

// run takes `-r SOCKET -i SOCKET [-D=false] VERB [ARGUMENT]`.
func run(words []string) error {
	if len(words) < 5 || words[0] != "-r" || words[2] != "-i" {
		return fmt.Errorf("not a call of kubeadm: %q", words)
	}
	socket, words := words[1], words[4:]
	if words[0] == "-D=false" {
		words = words[1:]
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	connection, err := grpc.NewClient(socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	runtime, images := cri.NewRuntimeServiceClient(connection), cri.NewImageServiceClient(connection)
	switch {
	case len(words) == 1 && words[0] == "info":
		_, err = runtime.Status(ctx, &cri.StatusRequest{})
	case len(words) == 2 && words[0] == "pods" && words[1] == "-q":
		found, failed := runtime.ListPodSandbox(ctx, &cri.ListPodSandboxRequest{})
		for _, pod := range found.GetItems() {
			fmt.Println(pod.Id)
		}
		err = failed
	case len(words) == 2 && words[0] == "stopp":
		_, err = runtime.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{PodSandboxId: words[1]})
	case len(words) == 2 && words[0] == "rmp":
		_, err = runtime.RemovePodSandbox(ctx, &cri.RemovePodSandboxRequest{PodSandboxId: words[1]})
	case len(words) == 2 && words[0] == "inspecti":
		found, failed := images.ImageStatus(ctx, &cri.ImageStatusRequest{Image: &cri.ImageSpec{Image: words[1]}})
		if err = failed; err == nil && found.Image == nil {
			err = fmt.Errorf("no such image: %s", words[1])
		}
	default:
		err = fmt.Errorf("not a call of kubeadm that works without a network: %q", words)
	}
	return err
}
