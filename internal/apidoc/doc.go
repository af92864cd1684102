// Package apidoc makes the reference page of an API group from its custom resource definitions: fields with type, default,
// rules and description. It knows the format of a definition and nothing of any kind.
package apidoc

//go:generate go run ./apipages
