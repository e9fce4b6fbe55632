// A KMS v2 plugin as its authors would write one today: Kubernetes' own server (k8s.io/kms/pkg/service) over a PKCS#11
// token by way of crypto11, as Kubernetes' mock plugin does. The figures compare ours with it.
//
//	kms-peer SOCKET MODULE TOKEN-LABEL PIN-FILE KEY-LABEL
package main

import (
	"context"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ThalesGroup/crypto11"
	"k8s.io/kms/pkg/service"
)

const keyID = "kms-peer-1"

type plugin struct{ aead cipher.AEAD }

func main() {
	if err := serve(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(args []string) error {
	if len(args) != 5 {
		return errors.New("usage: kms-peer SOCKET MODULE TOKEN-LABEL PIN-FILE KEY-LABEL")
	}
	pin, err := os.ReadFile(args[3])
	if err != nil {
		return err
	}
	token, err := crypto11.Configure(&crypto11.Config{Path: args[1], TokenLabel: args[2], Pin: strings.TrimSpace(string(pin))})
	if err != nil {
		return err
	}
	key, err := token.FindKey(nil, []byte(args[4]))
	if err != nil || key == nil {
		return fmt.Errorf("no key %s: %v", args[4], err)
	}
	aead, err := key.NewGCM()
	if err != nil {
		return err
	}
	return service.NewGRPCService(args[0], 5*time.Second, &plugin{aead}).ListenAndServe()
}

func (p *plugin) Status(context.Context) (*service.StatusResponse, error) {
	return &service.StatusResponse{Version: "v2", Healthz: "ok", KeyID: keyID}, nil
}

func (p *plugin) Encrypt(_ context.Context, _ string, data []byte) (*service.EncryptResponse, error) {
	nonce := make([]byte, p.aead.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return &service.EncryptResponse{Ciphertext: p.aead.Seal(nonce, nonce, data, []byte(keyID)), KeyID: keyID}, nil
}

func (p *plugin) Decrypt(_ context.Context, _ string, request *service.DecryptRequest) ([]byte, error) {
	size := p.aead.NonceSize()
	if request.KeyID != keyID || len(request.Ciphertext) < size {
		return nil, errors.New("not of this key")
	}
	return p.aead.Open(nil, request.Ciphertext[:size], request.Ciphertext[size:], []byte(keyID))
}
