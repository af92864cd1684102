package ddl

import (
	"slices"
	"strings"

	"github.com/stagewright/stagewright/internal/frontmatter/source"
)

// beforeTables are the words behind which tables stand.
var beforeTables = strings.Fields("FROM JOIN INTO UPDATE USING TABLE")

// Uses returns the tables of the schema that a statement names where tables stand, each once.
func (s *Schema) Uses(sql string, d source.Dialect) []*Table {
	c := cursor{all: tokens(sql, d)}
	seen := map[*Table]bool{}
	var all []*Table
	for !c.ended() {
		t := c.peek(0)
		c.at++
		if t.kind != source.Word || !slices.Contains(beforeTables, t.text) {
			continue
		}
		for {
			c.take("ONLY")
			name, ok := c.name()
			if !ok {
				break
			}
			for _, table := range s.Table(name) {
				if !seen[table] {
					seen[table] = true
					all = append(all, table)
				}
			}
			// FROM a AS x, b y
			if t.text != "FROM" && t.text != "USING" {
				break
			}
			c.take("AS")
			if next := c.peek(0); next.kind == source.QuotedName || next.kind == source.Word && c.peek(1).text == "," {
				c.at++
			}
			if !c.take(",") {
				break
			}
		}
	}
	return all
}
