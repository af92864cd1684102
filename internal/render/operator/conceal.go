package operator

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/jsonnet"
)

const (
	notShown = "the evaluation failed, with a message that is not shown because "
	// maxConcealed is how much is looked for in a message, in bytes. A Secret may have many lines, and a snippet many Secrets:
	// looking for all of them would hold up the snippets of others.
	maxConcealed = 256 << 10
)

// withoutSecrets is the error with its trace, and without values of Secrets.
func withoutSecrets(failed *jsonnet.Error, secrets []string) string {
	distinct, total := map[string]bool{}, 0
	for _, secret := range secrets {
		if !distinct[secret] {
			distinct[secret] = true
			total += len(secret)
		}
	}
	if total > maxConcealed {
		return fmt.Sprintf("%sthe values of its Secrets have %d bytes; up to %d are looked for in it", notShown, total, maxConcealed)
	}
	all := forms(secrets)
	shown := *failed
	shown.Message = concealCut(failed.Message, all)
	return conceal(shown.Trace(), all)
}

// conceal removes values of Secrets from a message, as they are and in the forms that a program or an error gives them
// without trying. A message with a short value is not shown at all, because what is left would still tell where it was.
func conceal(message string, all []string) string {
	for _, form := range all {
		if !strings.Contains(message, form) {
			continue
		}
		if len(form) < shortest {
			return notShown + "it has the value of a Secret in it"
		}
		message = strings.ReplaceAll(message, form, "…")
	}
	return message
}

// concealCut removes the beginning of a value from the end of a message that was cut inside of it, and goes on where what is
// left ends with another one: none is then found as a whole.
func concealCut(message string, all []string) string {
	const ellipsis = "…"
	text, cut := strings.CutSuffix(message, ellipsis)
	if !cut {
		return message
	}
	const rounds = 4 // more than that is not by chance
	for range rounds {
		begun := 0
		for _, form := range all {
			n := min(len(form), len(text))
			for n > begun && !strings.HasSuffix(text, form[:n]) {
				n--
			}
			begun = max(begun, n)
		}
		if begun == 0 {
			return text + ellipsis
		}
		text = text[:len(text)-begun]
	}
	return ellipsis
}

const (
	// shortest is what can be taken out of a message without saying by that what it was.
	shortest = 4
	// shortestLine is that of a line of a longer value. Shorter ones, such as a bracket, are everywhere and tell nothing.
	shortestLine = 8
)

// forms are what values of Secrets look like in messages, the longest first: one value may be the beginning of another.
func forms(secrets []string) []string {
	var all []string
	known := map[string]bool{}
	add := func(form string, atLeast int) {
		if len(form) >= atLeast && !known[form] {
			known[form] = true
			all = append(all, form)
		}
	}
	for _, secret := range secrets {
		quoted := fmt.Sprintf("%q", secret)
		add(secret, 1)
		add(quoted[1:len(quoted)-1], 1)
		add(base64.StdEncoding.EncodeToString([]byte(secret)), 1)
		add(strings.TrimSpace(secret), 1)
		for line := range strings.Lines(secret) { // a message may show or be cut after some of them
			add(strings.TrimSpace(line), shortestLine)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}
