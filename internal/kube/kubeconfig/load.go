package kubeconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// maxSize bounds a kubeconfig, in bytes. It has two certificates, a key and a token in it.
const maxSize = 256 << 10

// DefaultKeys are where a Secret has its kubeconfig when no key is named, in this order; as in Flux.
func DefaultKeys() []string { return []string{"value", "value.yaml"} }

// Options say how a cluster is used.
type Options struct {
	UserAgent string
	// Account is the ServiceAccount that is impersonated in that cluster; zero leaves the identity to the kubeconfig.
	Account types.NamespacedName
}

// RefusedError says that a kubeconfig has something in it that is not allowed, or not what it should be. It repeats no
// value of it.
type RefusedError struct {
	Field string // as in the file: users[].user.exec
	Why   string
}

func (e *RefusedError) Error() string { return fmt.Sprintf("kubeconfig: %s: %s", e.Field, e.Why) }

// Load reads the current context of a kubeconfig. Errors are RefusedError.
//
// All credentials have to be in it: a file would be read from the controller's disk, where its own token is, and a program
// would run as the controller. A proxy (HTTP, HTTPS or SOCKS5) may be named, and the verification of the server's certificate may
// be switched off: what is at stake then are the credentials in the kubeconfig alone. Where no proxy is named, those of the
// controller's environment count, as they do for all it does.
//
// The server may be any that the controller reaches. It is asked for what API servers have, redirections are not followed, and
// no error repeats what something else answers.
//
// Clients made of it ask as fast as they like, because the API server itself shares out its time; requests are to be
// bounded by their contexts, because a limit here would end watches too.
func Load(data []byte, o Options) (*rest.Config, error) {
	cluster, user, err := current(data)
	if err != nil {
		return nil, err
	}
	if err := checkUser(user); err != nil {
		return nil, err
	}
	if err := checkCluster(cluster); err != nil {
		return nil, err
	}
	const name = "remote"
	// A configuration of its own, so that nothing but what was checked is in it.
	clean := clientcmdapi.NewConfig()
	clean.CurrentContext = name
	clean.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	clean.Clusters[name] = &clientcmdapi.Cluster{
		Server: cluster.Server, TLSServerName: cluster.TLSServerName, InsecureSkipTLSVerify: cluster.InsecureSkipTLSVerify,
		CertificateAuthorityData: cluster.CertificateAuthorityData, ProxyURL: cluster.ProxyURL,
		DisableCompression: cluster.DisableCompression,
	}
	clean.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificateData: user.ClientCertificateData, ClientKeyData: user.ClientKeyData, Token: user.Token,
		Username: user.Username, Password: user.Password, Impersonate: user.Impersonate, ImpersonateUID: user.ImpersonateUID,
		ImpersonateGroups: user.ImpersonateGroups, ImpersonateUserExtra: user.ImpersonateUserExtra,
	}
	config, err := clientcmd.NewNonInteractiveClientConfig(*clean, name, &clientcmd.ConfigOverrides{}, nil).ClientConfig()
	if err != nil {
		return nil, refuse("contexts[]", "its cluster and user do not make a usable configuration")
	}
	config.QPS = -1
	config.UserAgent = o.UserAgent
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return stranger{next} })
	if o.Account != (types.NamespacedName{}) {
		config.Impersonate = rest.ImpersonationConfig{
			UserName: fmt.Sprintf("system:serviceaccount:%s:%s", o.Account.Namespace, o.Account.Name),
		}
	}
	return config, nil
}

// current returns the cluster and the user of the current context.
func current(data []byte) (*clientcmdapi.Cluster, *clientcmdapi.AuthInfo, error) {
	if len(data) == 0 {
		return nil, nil, refuse("file", "it is empty")
	}
	if len(data) > maxSize {
		return nil, nil, refuse("file", fmt.Sprintf("it has %d bytes, more than %d", len(data), maxSize))
	}
	config, err := clientcmd.Load(data)
	if err != nil {
		return nil, nil, refuse("file", "it cannot be read as a kubeconfig") // the reader's own words may repeat what is in it
	}
	if config.CurrentContext == "" {
		return nil, nil, refuse("current-context", "it is missing")
	}
	context := config.Contexts[config.CurrentContext]
	if context == nil {
		return nil, nil, refuse("current-context", "there is no such context")
	}
	cluster, user := config.Clusters[context.Cluster], config.AuthInfos[context.AuthInfo]
	switch {
	case cluster == nil:
		return nil, nil, refuse("contexts[].context.cluster", "there is no such cluster")
	case user == nil:
		return nil, nil, refuse("contexts[].context.user", "there is no such user")
	default:
		return cluster, user, nil
	}
}

func checkUser(user *clientcmdapi.AuthInfo) error {
	const inline = "a file of the controller's disk is not read; put the content into the kubeconfig as "
	switch {
	case user.TokenFile != "":
		return refuse("users[].user.tokenFile", inline+"token")
	case user.ClientCertificate != "":
		return refuse("users[].user.client-certificate", inline+"client-certificate-data")
	case user.ClientKey != "":
		return refuse("users[].user.client-key", inline+"client-key-data")
	case user.Exec != nil:
		return refuse("users[].user.exec", "no program is run for credentials; use a token or a client certificate")
	case user.AuthProvider != nil:
		return refuse("users[].user.auth-provider", "it is not supported; use a token or a client certificate")
	default:
		return nil
	}
}

func checkCluster(cluster *clientcmdapi.Cluster) error {
	if cluster.CertificateAuthority != "" {
		return refuse("clusters[].cluster.certificate-authority",
			"a file of the controller's disk is not read; put the content into the kubeconfig as certificate-authority-data")
	}
	if cluster.InsecureSkipTLSVerify && len(cluster.CertificateAuthorityData) > 0 {
		return refuse("clusters[].cluster.insecure-skip-tls-verify", "there is a certificate-authority-data to verify with")
	}
	if err := checkURL("clusters[].cluster.server", cluster.Server, "https", "http"); err != nil {
		return err
	}
	if cluster.ProxyURL == "" {
		return nil
	}
	return checkURL("clusters[].cluster.proxy-url", cluster.ProxyURL, "http", "https", "socks5")
}

// checkURL leaves no room for sockets and other things that a URL may name.
func checkURL(field, text string, schemes ...string) error {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" || parsed.Opaque != "" {
		return refuse(field, "it is not the URL of a server")
	}
	for _, scheme := range schemes {
		if parsed.Scheme == scheme {
			return nil
		}
	}
	return refuse(field, fmt.Sprintf("its scheme is not one of %q", schemes))
}

func refuse(field, why string) error { return &RefusedError{Field: field, Why: why} }

// FromSecret returns the kubeconfig that a Secret has under a key, or under one of the default keys where none is named.
func FromSecret(secret *corev1.Secret, key string) ([]byte, error) {
	keys := DefaultKeys()
	if key != "" {
		keys = []string{key}
	}
	for _, key := range keys {
		if data, ok := secret.Data[key]; ok {
			return data, nil
		}
	}
	return nil, fmt.Errorf("reading Secret %s/%s: it has no key %q", secret.Namespace, secret.Name, keys[0])
}

// ErrConfigMapRef says that a cluster cannot be reached through the identity that a cloud gives the controller.
var ErrConfigMapRef = errors.New("kubeConfig.configMapRef is not supported in this release; use secretRef")

// Key is equal for equal kubeconfigs and options, and for no others. It tells nothing of what is in them.
func Key(data []byte, o Options) string {
	hash := sha256.New()
	for _, field := range [][]byte{[]byte(o.Account.Namespace), []byte(o.Account.Name), []byte(o.UserAgent), data} {
		sum := sha256.Sum256(field)
		hash.Write(sum[:])
	}
	return hex.EncodeToString(hash.Sum(nil))
}
