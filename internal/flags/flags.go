package flags

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Flag is one row of a table.
type Flag struct {
	Name        string
	Target      any    // *string, *[]string, *bool, *int, *int64, *float64, *time.Duration or *Bytes; holds the default
	DefaultText string // shown in place of the default, where that depends on the machine
	Help        string // one sentence or two, lower case, without a full stop
	Environment string // the variable that is used when the flag is empty
}

// Group is a part of a table with a heading and, if need be, when it matters.
type Group struct {
	Title string
	Note  string
	Flags []Flag
}

// Variable is an environment variable that is not the fallback of a single flag.
type Variable struct {
	Name, Help string
}

// Example is a command line with what it is for.
type Example struct {
	Purpose, Command string
}

// Table is a program's command line.
type Table struct {
	Program   string
	Summary   string // what it is for; may have several paragraphs
	Groups    []Group
	Variables []Variable
	Examples  []Example
}

// ErrHelp is returned by Parse when help was asked for.
var ErrHelp = pflag.ErrHelp

// Parse sets the targets from the arguments. The error says which flag is wrong.
func (t Table) Parse(args []string) error {
	set := pflag.NewFlagSet(t.Program, pflag.ContinueOnError)
	set.Usage = func() {}
	set.SetOutput(io.Discard)
	set.SortFlags = false
	for _, group := range t.Groups {
		for _, f := range group.Flags {
			f.addTo(set)
		}
	}
	if err := set.Parse(args); err != nil {
		return err
	}
	if rest := set.Args(); len(rest) > 0 {
		return fmt.Errorf("unexpected argument %q: every setting is a flag", rest[0])
	}
	return nil
}

func (f Flag) addTo(set *pflag.FlagSet) {
	switch target := f.Target.(type) {
	case *string:
		set.StringVar(target, f.Name, *target, f.Help)
	case *[]string:
		set.StringArrayVar(target, f.Name, *target, f.Help)
	case *bool:
		set.BoolVar(target, f.Name, *target, f.Help)
	case *int:
		set.IntVar(target, f.Name, *target, f.Help)
	case *int64:
		set.Int64Var(target, f.Name, *target, f.Help)
	case *float64:
		set.Float64Var(target, f.Name, *target, f.Help)
	case *time.Duration:
		set.DurationVar(target, f.Name, *target, f.Help)
	case *Bytes:
		set.Var(target, f.Name, f.Help)
	default:
		panic(fmt.Sprintf("flag --%s has a target of type %T", f.Name, f.Target))
	}
}

// Type is the flag's type as the reference shows it.
func (f Flag) Type() string {
	switch f.Target.(type) {
	case *[]string:
		return "string, repeatable"
	case *time.Duration:
		return "duration"
	case *Bytes:
		return "bytes"
	default:
		return strings.TrimPrefix(fmt.Sprintf("%T", f.Target), "*")
	}
}

// Default is the default as the reference shows it. It has to be asked for before Parse.
func (f Flag) Default() string {
	if f.DefaultText != "" {
		return f.DefaultText
	}
	switch target := f.Target.(type) {
	case *string:
		if *target == "" {
			return "(empty)"
		}
		return *target
	case *[]string:
		return "empty list"
	case *bool:
		return fmt.Sprint(*target)
	case *int:
		return fmt.Sprint(*target)
	case *int64:
		return fmt.Sprint(*target)
	case *float64:
		return fmt.Sprint(*target)
	case *time.Duration:
		return target.String()
	case *Bytes:
		return target.String()
	}
	return ""
}

// IsHelp says whether an error of Parse is a request for help.
func IsHelp(err error) bool { return errors.Is(err, ErrHelp) }
