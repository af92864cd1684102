package cli

import "context"

func (a *app) lsp(_ context.Context, _ []string) error {
	return misusef("the language server is not there yet")
}
