package kubeconfig

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestLoad_TellsNothingOfWhatIsNoAPIServer: a tenant can name any server that the controller reaches, and reads what errors
// say.
func TestLoad_TellsNothingOfWhatIsNoAPIServer(t *testing.T) {
	const private = "private"
	var followed atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		followed.Store(true)
		http.Error(w, private, http.StatusForbidden)
	}))
	t.Cleanup(elsewhere.Close)
	answer := func(code int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			if kind != "" {
				w.Header().Set("Content-Type", kind)
			}
			w.Header().Set("Location", elsewhere.URL)
			w.WriteHeader(code)
			_, _ = fmt.Fprint(w, body)
		}
	}
	const refusal = `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"configmaps is forbidden","reason":"Forbidden","code":403}`
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"an error":         {answer(http.StatusInternalServerError, "text/plain", private), "it answered 500, and not as an API server does"},
		"a page":           {answer(http.StatusForbidden, "text/html; charset=utf-8", private), "it answered 403, and not as an API server does"},
		"without a type":   {answer(http.StatusForbidden, "", private), "it answered 403, and not as an API server does"},
		"a redirection":    {answer(http.StatusFound, "text/html", private), errRedirected.Error()},
		"another one":      {answer(http.StatusTemporaryRedirect, "text/html", private), errRedirected.Error()},
		"a text":           {answer(http.StatusOK, "text/plain", private), ""},
		"JSON":             {answer(http.StatusBadRequest, "application/json", `{"text":"`+private+`"}`), ""},
		"an API's refusal": {answer(http.StatusForbidden, "application/json; charset=utf-8", refusal), "configmaps is forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.answer)
			t.Cleanup(server.Close)
			config, err := Load([]byte(file(fmt.Sprintf("{server: %q}", server.URL), "{token: theirs}")), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err = list(t, config); err == nil || strings.Contains(err.Error(), private) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	if followed.Load() {
		t.Error("a redirection was followed")
	}
}
