package source

import "strings"

// Dialect is how a database writes SQL down, as a row of switches. What a switch allows is also in the reference.
// It has a field for every switch, however many there are.
type Dialect struct {
	Name     string
	Products []string // what the drivers of these databases call them; the vendor key selects the dialect by them

	NestedComments   bool // /* /* */ */ is one comment
	BackslashEscapes bool // \ escapes inside every '…' and "…"
	HashComments     bool // # starts a comment
	DashNeedsBlank   bool // -- starts a comment only before a blank
	EscapeStrings    bool // E'…' has backslash escapes
	QuoteStrings     bool // q'[…]' has delimiters of its own
	DollarQuotes     bool // $tag$…$tag$
	BracketNames     bool // [name]
	BacktickNames    bool // `name`
	QuestionOperator bool // ?, ?| and ?& are operators between values
	CodeComments     bool // /*! … */ is executed
}

var dialects = []Dialect{
	{Name: "standard", NestedComments: true},
	{
		Name: "postgresql", Products: []string{"PostgreSQL"},
		NestedComments: true, EscapeStrings: true, DollarQuotes: true, QuestionOperator: true,
	},
	{
		Name: "mysql", Products: []string{"MySQL", "MariaDB"},
		BackslashEscapes: true, HashComments: true, DashNeedsBlank: true, BacktickNames: true, CodeComments: true,
	},
	{Name: "oracle", Products: []string{"Oracle"}, QuoteStrings: true},
	{
		Name: "sqlserver", Products: []string{"Microsoft SQL Server"},
		NestedComments: true, BracketNames: true,
	},
	{Name: "sqlite", Products: []string{"SQLite"}, BracketNames: true, BacktickNames: true},
	{Name: "h2", Products: []string{"H2"}, NestedComments: true, DollarQuotes: true, BacktickNames: true},
}

// Dialects lists the dialects, the default one first.
func Dialects() []Dialect { return append([]Dialect(nil), dialects...) }

// DialectNamed returns the dialect of a name.
func DialectNamed(name string) (Dialect, bool) {
	for _, d := range dialects {
		if d.Name == name {
			return d, true
		}
	}
	return Dialect{}, false
}

// Products lists the product names that the dialects know.
func Products() []string {
	var names []string
	for _, d := range dialects {
		names = append(names, d.Products...)
	}
	return names
}

// forVendor returns the dialect of a product, or the given one for a product that no dialect names. Case does not
// matter here, so that a misspelt vendor is reported once and not as broken SQL as well.
func (d Dialect) forVendor(product string) Dialect {
	for _, other := range dialects {
		for _, name := range other.Products {
			if strings.EqualFold(name, product) {
				return other
			}
		}
	}
	return d
}
