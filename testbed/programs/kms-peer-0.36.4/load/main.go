// kube-apiserver's own client of KMS v2 plugins, under load. Prints one JSON object.
//
//	kms-load status|decrypt SOCKET CONCURRENCY SECONDS   calls per second and their times, over one connection
//	kms-load start SOCKET PROGRAM ARGUMENT...            the time from the start of a plugin to its first healthy Status
//
// Every worker decrypts data of its own, so that no plugin can answer two requests at once.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/storage/value/encrypt/envelope/kmsv2"
	"k8s.io/kms/pkg/service"
)

const (
	// What kube-apiserver has encrypted: one seed.
	seed = 32
	// Different data of each worker.
	texts = 16
)

type figures struct {
	PerSecond float64 `json:"perSecond"`
	P50Micros int64   `json:"p50Micros"`
	P99Micros int64   `json:"p99Micros"`
}

func main() {
	result, err := run(os.Args[1:])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(result)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) (any, error) {
	if len(args) >= 3 && args[0] == "start" {
		return start(args[1], args[2:])
	}
	if len(args) != 4 {
		return nil, errors.New("usage: kms-load status|decrypt SOCKET CONCURRENCY SECONDS")
	}
	concurrency, err := strconv.Atoi(args[2])
	if err != nil {
		return nil, err
	}
	seconds, err := strconv.ParseFloat(args[3], 64)
	if err != nil {
		return nil, err
	}
	plugin, err := connect(args[1])
	if err != nil {
		return nil, err
	}
	calls := make([]func() error, concurrency)
	for worker := range calls {
		if calls[worker], err = call(args[0], plugin, worker); err != nil {
			return nil, err
		}
	}
	return load(calls, time.Duration(seconds*float64(time.Second)))
}

func connect(socket string) (service.Service, error) {
	return kmsv2.NewGRPCService(context.Background(), "unix://"+socket, "load", 10*time.Second)
}

func call(what string, plugin service.Service, worker int) (func() error, error) {
	ctx := context.Background()
	if what == "status" {
		return func() error { return healthy(plugin) }, nil
	}
	var requests []*service.DecryptRequest
	var wanted [][]byte
	for text := range texts {
		data := bytes.Repeat([]byte{byte(worker), byte(text)}, seed/2)
		sealed, err := plugin.Encrypt(ctx, "load", data)
		if err != nil {
			return nil, err
		}
		requests = append(requests, &service.DecryptRequest{Ciphertext: sealed.Ciphertext, KeyID: sealed.KeyID, Annotations: sealed.Annotations})
		wanted = append(wanted, data)
	}
	next := 0
	return func() error {
		at := next % texts
		next++
		data, err := plugin.Decrypt(ctx, "load", requests[at])
		if err == nil && !bytes.Equal(data, wanted[at]) {
			err = errors.New("decrypted something else")
		}
		return err
	}, nil
}

func healthy(plugin service.Service) error {
	status, err := plugin.Status(context.Background())
	if err == nil && status.Healthz != "ok" {
		err = errors.New(status.Healthz)
	}
	return err
}

func load(calls []func() error, limit time.Duration) (figures, error) {
	var group sync.WaitGroup
	times := make([][]time.Duration, len(calls))
	failures := make([]error, len(calls))
	began := time.Now()
	for worker, call := range calls {
		group.Go(func() {
			for time.Since(began) < limit && failures[worker] == nil {
				at := time.Now()
				failures[worker] = call()
				times[worker] = append(times[worker], time.Since(at))
			}
		})
	}
	group.Wait()
	took := time.Since(began)
	all := slices.Concat(times...)
	slices.Sort(all)
	part := func(percent int) int64 { return all[(len(all)-1)*percent/100].Microseconds() }
	return figures{PerSecond: float64(len(all)) / took.Seconds(), P50Micros: part(50), P99Micros: part(99)}, errors.Join(failures...)
}

// start waits for the socket before it connects: a client that comes too early backs off for a second.
func start(socket string, command []string) (any, error) {
	plugin := exec.Command(command[0], command[1:]...)
	plugin.Stderr = os.Stderr
	began := time.Now()
	if err := plugin.Start(); err != nil {
		return nil, err
	}
	defer func() {
		_ = plugin.Process.Kill()
		_ = plugin.Wait()
	}()
	for {
		connection, err := net.Dial("unix", socket)
		if err == nil {
			connection.Close()
			break
		}
		if time.Since(began) > 10*time.Second {
			return nil, err
		}
		time.Sleep(200 * time.Microsecond)
	}
	client, err := connect(socket)
	if err != nil {
		return nil, err
	}
	if err := healthy(client); err != nil {
		return nil, err
	}
	return map[string]int64{"micros": time.Since(began).Microseconds()}, nil
}
