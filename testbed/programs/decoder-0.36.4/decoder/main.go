// Kubernetes' own types and strict decoder of the kubelet's and kube-proxy's configuration.
//
//	decoder fields kubelet|kube-proxy   prints each field, by reflection: path, blank, type
//	decoder decode                      decodes each document of a JSON list in strict mode and prints a JSON list of
//	                                    error texts, "" for a document that is accepted
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	logs "k8s.io/component-base/logs/api/v1"
	kubeproxy "k8s.io/kube-proxy/config/v1alpha1"
	kubelet "k8s.io/kubelet/config/v1beta1"
)

func main() {
	switch strings.Join(os.Args[1:], " ") {
	case "fields kubelet":
		walk("", reflect.TypeOf(kubelet.KubeletConfiguration{}))
	case "fields kube-proxy":
		walk("", reflect.TypeOf(kubeproxy.KubeProxyConfiguration{}))
	case "decode":
		decode()
	default:
		fail("usage: decoder fields kubelet|kube-proxy, or decoder decode")
	}
}

func decode() {
	scheme := runtime.NewScheme()
	check(kubelet.AddToScheme(scheme))
	check(kubeproxy.AddToScheme(scheme))
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	var documents, verdicts []string
	check(json.NewDecoder(os.Stdin).Decode(&documents))
	for _, document := range documents {
		verdict := ""
		if _, _, err := decoder.Decode([]byte(document), nil, nil); err != nil {
			verdict = err.Error()
		}
		verdicts = append(verdicts, verdict)
	}
	check(json.NewEncoder(os.Stdout).Encode(verdicts))
}

// Types that read their JSON themselves.
var scalars = map[reflect.Type]string{
	reflect.TypeOf(metav1.Duration{}):         "duration",
	reflect.TypeOf(metav1.Time{}):             "time",
	reflect.TypeOf(resource.Quantity{}):       "quantity",
	reflect.TypeOf(resource.QuantityValue{}):  "quantity",
	reflect.TypeOf(logs.TimeOrMetaDuration{}): "duration-or-nanoseconds",
}

var unmarshaler = reflect.TypeOf((*json.Unmarshaler)(nil)).Elem()

// walk prints the fields below a path. The root has no line of its own.
func walk(path string, t reflect.Type) {
	nullable := ""
	if t.Kind() == reflect.Ptr {
		t, nullable = t.Elem(), "?"
	}
	scalar := scalars[t]
	if scalar == "" && reflect.PtrTo(t).Implements(unmarshaler) {
		fail(path + ": " + t.String() + " reads its JSON itself")
	}
	switch {
	case scalar != "":
		if scalar != "duration" {
			nullable = ""
		}
		fmt.Printf("%s %s%s\n", path, scalar, nullable)
	case t.Kind() == reflect.Struct:
		if path != "" {
			fmt.Printf("%s object\n", path)
		}
		walkMembers(path, t)
	case t.Kind() == reflect.Slice:
		fmt.Printf("%s list\n", path)
		walk(path+"[]", t.Elem())
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		fmt.Printf("%s map\n", path)
		walk(path+"{}", t.Elem())
	case t.Kind() == reflect.String:
		fmt.Printf("%s text\n", path)
	case t.Kind() == reflect.Int:
		fmt.Printf("%s int64\n", path)
	default:
		// bool, int32, uint32, float64 ...
		fmt.Printf("%s %s\n", path, t.Kind())
	}
}

func walkMembers(path string, t reflect.Type) {
	for i := 0; i < t.NumField(); i++ {
		field := t.Field(i)
		if field.Type == reflect.TypeOf(metav1.TypeMeta{}) || (field.PkgPath != "" && !field.Anonymous) {
			continue
		}
		name := strings.Split(field.Tag.Get("json"), ",")[0]
		switch {
		case name == "-":
		case name == "" && field.Anonymous:
			walkMembers(path, field.Type)
		case name == "":
			fail(path + "." + field.Name + " has no name in JSON")
		case path == "":
			walk(name, field.Type)
		default:
			walk(path+"."+name, field.Type)
		}
	}
}

func check(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(1)
}
