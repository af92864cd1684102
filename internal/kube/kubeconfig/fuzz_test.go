package kubeconfig

import (
	"errors"
	"testing"
)

// FuzzLoad: what is taken leads to no file and no program, and what is refused is refused by its field.
func FuzzLoad(f *testing.F) {
	for _, user := range []string{
		"{token: a}", "{tokenFile: /a}", "{exec: {command: a}}", "{auth-provider: {name: a}}", "{client-certificate: /a, client-key: /b}", "{username: a, password: b, as: c}",
	} {
		f.Add(file("{server: https://a, proxy-url: socks5://b}", user))
	}
	f.Add(file("{server: https://a, certificate-authority: /a}", "{token: a}"))
	f.Fuzz(func(t *testing.T, text string) {
		config, err := Load([]byte(text), Options{})
		if err != nil {
			var refused *RefusedError
			if !errors.As(err, &refused) || refused.Field == "" {
				t.Errorf("error %v", err)
			}
			return
		}
		if config.BearerTokenFile != "" || config.CertFile != "" || config.KeyFile != "" || config.CAFile != "" ||
			config.ExecProvider != nil || config.AuthProvider != nil || config.Dial != nil {
			t.Errorf("%s leads to %+v", text, config)
		}
	})
}
