// Package lsp is the language server: what check, format and the tables know, in the words of the Language Server
// Protocol 3.17, over one connection.
//
// Messages are handled one after the other, in the order they came in; only a cancellation overtakes. It owns open
// documents and positions in the client's encoding, and must not hold rules of its own.
package lsp
