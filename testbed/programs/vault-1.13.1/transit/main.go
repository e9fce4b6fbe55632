// Vault's own core with its transit engine and three ways to log in, in memory and over TLS.
//
//	vault-transit CERTIFICATE KEY   listens on a free port of loopback, prints {"address":..,"token":..} and serves
//	                                until standard input ends. The token is the root token.
package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"

	log "github.com/hashicorp/go-hclog"
	"github.com/hashicorp/vault/builtin/credential/approle"
	"github.com/hashicorp/vault/builtin/credential/cert"
	"github.com/hashicorp/vault/builtin/logical/transit"
	vaulthttp "github.com/hashicorp/vault/http"
	"github.com/hashicorp/vault/sdk/helper/consts"
	"github.com/hashicorp/vault/sdk/logical"
	"github.com/hashicorp/vault/sdk/physical/inmem"
	"github.com/hashicorp/vault/vault"
)

// registry has no plugins: everything is linked in.
type registry struct{}

func (registry) Contains(string, consts.PluginType) bool { return true }

func (registry) Get(string, consts.PluginType) (func() (interface{}, error), bool) { return nil, true }

func (registry) Keys(consts.PluginType) []string { return nil }

func (registry) DeprecationStatus(string, consts.PluginType) (consts.DeprecationStatus, bool) {
	return consts.Supported, true
}

func main() {
	certificate, err := tls.LoadX509KeyPair(os.Args[1], os.Args[2])
	check(err)
	logger := log.New(&log.LoggerOptions{Level: log.Error, Output: os.Stderr})
	store, err := inmem.NewInmem(nil, logger)
	check(err)
	core, err := vault.NewCore(&vault.CoreConfig{
		Physical:           store,
		Logger:             logger,
		DisableMlock:       true,
		BuiltinRegistry:    registry{},
		LogicalBackends:    map[string]logical.Factory{"transit": transit.Factory},
		CredentialBackends: map[string]logical.Factory{"approle": approle.Factory, "cert": cert.Factory},
	})
	check(err)
	shares := &vault.SealConfig{SecretShares: 1, SecretThreshold: 1}
	initialized, err := core.Initialize(context.Background(), &vault.InitParams{BarrierConfig: shares, RecoveryConfig: &vault.SealConfig{}})
	check(err)
	_, err = core.Unseal(initialized.SecretShares[0])
	check(err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	server := &http.Server{
		Handler:   vaulthttp.Handler.Handler(&vault.HandlerProperties{Core: core}),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequestClientCert},
	}
	go func() { check(server.ServeTLS(listener, "", "")) }()
	check(json.NewEncoder(os.Stdout).Encode(map[string]string{
		"address": "https://" + listener.Addr().String(), "token": initialized.RootToken,
	}))
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
