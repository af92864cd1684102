package cli

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/lsp"
	"github.com/stagewright/stagewright/internal/version"
)

func (a *app) lsp(ctx context.Context, args []string) error {
	if !a.values.bool("stdio") {
		return misusef("the language server talks over standard input and output only")
	}
	options, err := a.options(args)
	if err != nil {
		return err
	}
	if s := options.Overrides.Source; s != "" && !filepath.IsAbs(s) {
		options.Overrides.Source = filepath.Join(a.dir, s)
	}
	inOrder := lsp.Serve(ctx, a.stdin, a.stdout, lsp.Options{
		Overrides: options.Overrides,
		Version:   strings.Fields(version.String("frontmatter"))[1],
		Log:       a.stderr,
	})
	if !inOrder {
		return errFindings
	}
	return nil
}
