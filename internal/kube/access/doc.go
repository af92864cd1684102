// Package access finds the API server that a program talks to and the namespace that the program lives in, from a flag, the
// environment and what a pod is given. It knows no flag's name but those it is told, and makes no request.
package access
