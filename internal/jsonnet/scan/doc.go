// Package scan refuses Jsonnet sources that a recursive parser could not survive.
//
// It reads tokens in one pass without recursion and bounds how deep the syntax tree can become. It does not check
// syntax: what it lets pass may still be wrong, and is then found by the parser.
package scan
