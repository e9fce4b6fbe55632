// kube-apiserver's own client of KMS v2 plugins, without its clocks, and its format of what etcd stores.
//
// Reads one JSON request per line and prints one JSON answer per line:
//
//	{"do":"connect","socket":PATH}             a connection as kube-apiserver's, with its options
//	{"do":"status"}                            version, healthz, keyID as answered, and kube-apiserver's verdict on them
//	{"do":"encrypt","data":BASE64}             ciphertext, keyID, annotations, and kube-apiserver's verdict on them
//	{"do":"decrypt","data":BASE64,"keyID":..,"annotations":{..}}
//	{"do":"rotate"}                            what kube-apiserver does when Status reports another key: a new seed,
//	                                           encrypted by the plugin; refused unless both name the same key
//	{"do":"write","name":..,"data":BASE64}     what kube-apiserver would store under a name
//	{"do":"read","name":..,"data":BASE64}      what it reads from that, and whether it is stale; a new cache each time
//	{"do":"decode","data":BASE64}              the stored EncryptedObject: keyID, source, annotations
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/apiserver/pkg/storage/value/encrypt/envelope/kmsv2"
	kmstypes "k8s.io/apiserver/pkg/storage/value/encrypt/envelope/kmsv2/v2"
	"k8s.io/kms/pkg/service"
)

const provider = "judged"

type request struct {
	Do          string            `json:"do"`
	Socket      string            `json:"socket"`
	Name        string            `json:"name"`
	Data        []byte            `json:"data"`
	KeyID       string            `json:"keyID"`
	Annotations map[string][]byte `json:"annotations"`
}

type answer struct {
	Error       string            `json:"error,omitempty"`
	Version     string            `json:"version,omitempty"`
	Healthz     string            `json:"healthz,omitempty"`
	KeyID       string            `json:"keyID,omitempty"`
	Data        []byte            `json:"data,omitempty"`
	Annotations map[string][]byte `json:"annotations,omitempty"`
	Stale       bool              `json:"stale,omitempty"`
	Source      string            `json:"source,omitempty"`
	Micros      int64             `json:"micros,omitempty"`
}

type client struct {
	service service.Service
	state   kmsv2.State
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	out := json.NewEncoder(os.Stdout)
	c := &client{}
	for lines.Scan() {
		var r request
		var a answer
		err := json.Unmarshal(lines.Bytes(), &r)
		if err == nil {
			began := time.Now()
			a, err = c.do(context.Background(), r)
			a.Micros = time.Since(began).Microseconds()
		}
		if err != nil {
			a.Error = err.Error()
		}
		if err := out.Encode(a); err != nil {
			panic(err)
		}
	}
}

func (c *client) do(ctx context.Context, r request) (answer, error) {
	switch r.Do {
	case "connect":
		s, err := kmsv2.NewGRPCService(ctx, "unix://"+r.Socket, provider, 3*time.Second)
		c.service, c.state = s, kmsv2.State{}
		return answer{}, err
	case "status":
		s, err := c.service.Status(ctx)
		if err != nil {
			return answer{}, err
		}
		return answer{Version: s.Version, Healthz: s.Healthz, KeyID: s.KeyID}, verdict(s)
	case "encrypt":
		e, err := c.service.Encrypt(ctx, "judge", r.Data)
		if err != nil {
			return answer{}, err
		}
		object := &kmstypes.EncryptedObject{EncryptedData: []byte{0}, KeyID: e.KeyID, EncryptedDEKSource: e.Ciphertext, Annotations: e.Annotations}
		return answer{Data: e.Ciphertext, KeyID: e.KeyID, Annotations: e.Annotations}, kmsv2.ValidateEncryptedObject(object)
	case "decrypt":
		data, err := c.service.Decrypt(ctx, "judge", &service.DecryptRequest{Ciphertext: r.Data, KeyID: r.KeyID, Annotations: r.Annotations})
		return answer{Data: data}, err
	case "rotate":
		return c.rotate(ctx)
	case "write":
		data, err := c.transformer().TransformToStorage(ctx, r.Data, value.DefaultContext(r.Name))
		return answer{Data: data}, err
	case "read":
		data, stale, err := c.transformer().TransformFromStorage(ctx, r.Data, value.DefaultContext(r.Name))
		return answer{Data: data, Stale: stale}, err
	case "decode":
		var object kmstypes.EncryptedObject
		if err := proto.Unmarshal(r.Data, &object); err != nil {
			return answer{}, err
		}
		found := answer{KeyID: object.KeyID, Annotations: object.Annotations, Source: object.EncryptedDEKSourceType.String()}
		return found, kmsv2.ValidateEncryptedObject(&object)
	}
	return answer{}, fmt.Errorf("unknown request %q", r.Do)
}

// verdict is what isKMSv2ProviderHealthyAndMaybeRotateDEK checks before it uses an answer.
func verdict(s *service.StatusResponse) error {
	var problems []string
	if s.Healthz != "ok" {
		problems = append(problems, "got unexpected healthz status: "+s.Healthz)
	}
	if s.Version != "v2" && s.Version != "v2beta1" {
		problems = append(problems, "expected KMSv2 API version v2, got "+s.Version)
	}
	if _, err := kmsv2.ValidateKeyID(s.KeyID); err != nil {
		problems = append(problems, err.Error())
	}
	if problems != nil {
		return fmt.Errorf("%s", strings.Join(problems, "; "))
	}
	return nil
}

func (c *client) rotate(ctx context.Context) (answer, error) {
	status, err := c.service.Status(ctx)
	if err != nil {
		return answer{}, err
	}
	if err := verdict(status); err != nil {
		return answer{}, err
	}
	transformer, object, cacheKey, err := kmsv2.GenerateTransformer(ctx, "judge", c.service, true)
	if err != nil {
		return answer{}, err
	}
	if object.KeyID != status.KeyID {
		return answer{}, fmt.Errorf("Encrypt answered with key %q, Status with %q", object.KeyID, status.KeyID)
	}
	c.state = kmsv2.State{
		Transformer:                           transformer,
		EncryptedObjectKeyID:                  object.KeyID,
		EncryptedObjectEncryptedDEKSource:     object.EncryptedDEKSource,
		EncryptedObjectAnnotations:            object.Annotations,
		EncryptedObjectEncryptedDEKSourceType: object.EncryptedDEKSourceType,
		UID:                                   "judge",
		ExpirationTimestamp:                   time.Now().Add(3 * time.Minute),
		CacheKey:                              cacheKey,
		KMSProviderName:                       provider,
	}
	return answer{KeyID: object.KeyID, Annotations: object.Annotations}, nil
}

// transformer has an empty cache, so that each read asks the plugin.
func (c *client) transformer() value.Transformer {
	return kmsv2.NewEnvelopeTransformer(c.service, provider, func() (kmsv2.State, error) { return c.state, nil }, "judge")
}
