package tenant

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// lifetime is how long tokens are asked to be valid. The API server may give another.
	lifetime = time.Hour
	// minimumMargin and a tenth of a token's life are what is left of it when it is replaced: enough for a request
	// that has just begun, and for clocks that differ a little.
	minimumMargin = time.Minute
	// requestTimeout bounds a request whose callers may all have gone.
	requestTimeout = 30 * time.Second
)

// token is what one account acts with.
type token struct {
	value   string
	uid     types.UID
	replace time.Time
}

// tokens issues and keeps tokens. It can be used concurrently, and has one request in flight for an account.
type tokens struct {
	issuer client.SubResourceClientConstructor
	now    func() time.Time
	cache  *lru.Cache // from Account to token
	flight singleflight.Group
}

// get returns a token of the account that is still valid for a while.
func (t *tokens) get(ctx context.Context, account Account) (token, error) {
	if kept, ok := t.kept(account); ok {
		return kept, nil
	}
	// What one caller asks for serves all that wait; so it does not end with that caller's context.
	detached := context.WithoutCancel(ctx)
	answer := t.flight.DoChan(account.Namespace+"/"+account.Name+"/"+string(account.UID), func() (any, error) {
		if kept, ok := t.kept(account); ok { // another flight ended since the look above
			return kept, nil
		}
		ctx, cancel := context.WithTimeout(detached, requestTimeout)
		defer cancel()
		issued, err := t.issue(ctx, account)
		if err == nil {
			t.cache.Add(account, issued)
		}
		return issued, err
	})
	select {
	case <-ctx.Done():
		return token{}, ctx.Err()
	case result := <-answer:
		if result.Err != nil {
			return token{}, result.Err
		}
		return result.Val.(token), nil
	}
}

func (t *tokens) kept(account Account) (token, bool) {
	value, ok := t.cache.Get(account)
	if !ok {
		return token{}, false
	}
	kept := value.(token)
	return kept, t.now().Before(kept.replace)
}

// drop forgets a token that was refused, unless it has been replaced already.
func (t *tokens) drop(account Account, refused token) {
	if value, ok := t.cache.Get(account); ok && value.(token).value == refused.value {
		t.cache.Remove(account)
	}
}

// issue asks the API server for a token.
func (t *tokens) issue(ctx context.Context, account Account) (token, error) {
	object := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: account.Namespace, Name: account.Name}}
	seconds := int64(lifetime / time.Second)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	asked := t.now()
	if err := t.issuer.SubResource("token").Create(ctx, object, request); err != nil {
		if apierrors.IsNotFound(err) {
			return token{}, &MissingError{Account: account}
		}
		return token{}, fmt.Errorf("requesting a token for ServiceAccount %s: %w", account, err)
	}
	claims, err := readClaims(request.Status.Token)
	if err != nil {
		return token{}, fmt.Errorf("reading the token of ServiceAccount %s: %w", account, err)
	}
	uid := claims.Kubernetes.ServiceAccount.UID
	if account.UID != "" && account.UID != uid {
		return token{}, &MissingError{Account: account, Replaced: true}
	}
	// Both times are of the API server's clock, and what lies between them is the same on ours: by a clock that is ahead
	// every token would have expired already, and each request would ask for a new one.
	life := request.Status.ExpirationTimestamp.Sub(asked)
	if claims.Issued > 0 && claims.Expires > claims.Issued {
		life = time.Duration(claims.Expires-claims.Issued) * time.Second
	}
	margin := max(life/10, minimumMargin)
	return token{value: request.Status.Token, uid: uid, replace: asked.Add(life - margin)}, nil
}

// claims are those of a token that are looked at. The token comes straight from the API server, which is who verifies it;
// here nothing is decided but whether it is for the account that was meant, and how long it is kept.
type claims struct {
	Issued     int64 `json:"iat"` // seconds since 1970
	Expires    int64 `json:"exp"`
	Kubernetes struct {
		ServiceAccount struct {
			UID types.UID `json:"uid"`
		} `json:"serviceaccount"`
	} `json:"kubernetes.io"`
}

// readClaims returns the claims of a token that is for an account.
func readClaims(value string) (claims, error) {
	parts := strings.Split(value, ".")
	if len(parts) != 3 {
		return claims{}, errors.New("it is not a JSON web token")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return claims{}, errors.New("its claims are not base64") // the cause might quote them
	}
	var read claims
	if err := json.Unmarshal(payload, &read); err != nil || read.Kubernetes.ServiceAccount.UID == "" {
		return claims{}, errors.New("its claims name no ServiceAccount")
	}
	return read, nil
}
