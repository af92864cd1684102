// Package bundle evaluates programs whose files are in memory: those of a snippet, and libraries beside them.
//
// Imports resolve as "jsonnet -J vendor" would with the libraries in that directory: relative to the importing file, then by
// the name a library is imported under, then by looking through everything, later libraries winning. A file is only ever
// found among those that were given. The package reads no disk and knows nothing of where files come from.
package bundle
