// Command probe looks at the network from inside a pod: `probe lookup NAME` prints the addresses that the
// pod's own resolver gives for a name, `probe connect HOST:PORT` prints "connected", and both exit with 1
// and the reason when they can't.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"
)

func main() {
	if len(os.Args) != 3 {
		fail("usage: probe lookup NAME | probe connect HOST:PORT")
	}
	deadline, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	switch os.Args[1] {
	case "lookup":
		addresses, err := net.DefaultResolver.LookupHost(deadline, os.Args[2])
		if err != nil {
			fail(err)
		}
		for _, address := range addresses {
			fmt.Println(address)
		}
	case "connect":
		connection, err := (&net.Dialer{}).DialContext(deadline, "tcp", os.Args[2])
		if err != nil {
			fail(err)
		}
		connection.Close()
		fmt.Println("connected")
	default:
		fail("unknown probe " + os.Args[1])
	}
}

func fail(reason any) {
	fmt.Fprintln(os.Stderr, reason)
	os.Exit(1)
}
