// Package supervise runs child processes that live and die together: when one ends, the others are of no use and are
// stopped, and the reason is the one that ended first. It knows nothing of what the processes are.
package supervise
