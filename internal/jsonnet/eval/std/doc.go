// Package std is Jsonnet's standard library as native functions of package vm.
//
// It owns what std offers: names, parameters, the order in which arguments are forced and the wording of errors, which
// follow go-jsonnet v0.22.0. Functions check the machine in every loop and ask it for memory before they allocate much.
//
// The package knows neither programs nor sources.
package std
