// Package admission is the validating webhook of JsonnetSnippet: it refuses what the rules in the schema cannot see, such as
// references into other namespaces, names that the command line has taken, and Jsonnet that cannot be parsed.
//
// It asks nothing of the cluster and reads nothing but the request. Parsing is bounded in time, and shared between
// namespaces: where there is no time to parse, an object is admitted with a warning, and the operator tells later.
package admission
