package statement

import (
	"slices"

	"github.com/stagewright/stagewright/internal/frontmatter/matter"
)

// Inherit completes variants: what a variant does not write is what another one of its name and repository writes.
// Their parameters stand in the order of the variant without a vendor, or else of the first one. Files are given in the
// order of their paths.
func Inherit(files []*File) {
	type key struct{ repository, name string }
	groups := map[key][]*Statement{}
	for _, f := range files {
		for _, s := range f.Statements {
			if s.Readable() && s.Name.Text != "" && s.Repository.Text != "" {
				k := key{s.Repository.Text, s.Name.Text}
				groups[k] = append(groups[k], s)
			}
		}
	}
	for _, group := range groups {
		if len(group) > 1 {
			inherit(group)
		}
	}
}

func inherit(group []*Statement) {
	lead := group[0]
	written := map[string]*matter.Node{}
	declared := map[string]Parameter{}
	for _, s := range group {
		if s.Vendor == "" {
			lead = s
		}
		for _, p := range s.Written.Pairs {
			if written[p.Key] == nil {
				written[p.Key] = p.Value
			}
		}
		for _, p := range s.Parameters {
			if _, known := declared[p.Name]; !known && p.Type != "" {
				declared[p.Name] = p
			}
		}
	}
	order := map[string]int{}
	for i, p := range lead.Parameters {
		order[p.Name] = i - len(lead.Parameters) // before those that the lead does not have
	}
	for _, s := range group {
		if n := written["type"]; n != nil {
			s.Type = word(n)
		}
		s.Returning = returning(s.Type, written["returning"], written["parameters"])
		for i := range s.Parameters {
			if p := &s.Parameters[i]; p.Type == "" {
				p.Type, p.Erased, p.Variant = declared[p.Name].Type, declared[p.Name].Erased, declared[p.Name].Variant
			}
		}
		slices.SortStableFunc(s.Parameters, func(a, b Parameter) int { return order[a.Name] - order[b.Name] })
	}
}
