package flags

import (
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// OneOf says that a flag's value is none of the words that are allowed.
func OneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("--%s %q is none of %s", flag, value, strings.Join(allowed, ", "))
}

// NotNegative says that a number or a duration is below zero.
func NotNegative[N int | int64 | time.Duration](flag string, value N) error {
	if value >= 0 {
		return nil
	}
	return fmt.Errorf("--%s %v is negative", flag, value)
}

// Ratio says that a value is not from 0 to 1.
func Ratio(flag string, value float64) error {
	if math.IsNaN(value) || value < 0 || value > 1 {
		return fmt.Errorf("--%s has to be from 0.0 to 1.0", flag)
	}
	return nil
}

// HostPort says that a value is not of the form host:port, where the host may be missing. The hint says more.
func HostPort(flag, value, hint string) error {
	_, port, err := net.SplitHostPort(value)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("--%s %q is not of the form host:port (%s)", flag, value, hint)
	}
	return nil
}

// List splits a value at its commas. Spaces around elements and empty elements are left out.
func List(value string) []string {
	var elements []string
	for element := range strings.SplitSeq(value, ",") {
		if element = strings.TrimSpace(element); element != "" {
			elements = append(elements, element)
		}
	}
	return elements
}
