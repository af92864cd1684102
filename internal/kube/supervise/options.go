package supervise

import (
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// How a lease changes hands. A replica that asks for it waits up to 2.2 times the retry period between its attempts, so
// that a lease that was given back is taken within two seconds.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 750 * time.Millisecond
)

// endTimeout is how long workers have to end before the lease is given back. Their contexts have ended.
const endTimeout = 25 * time.Second

// Lease is where replicas agree on who reconciles. The zero value is no election.
type Lease struct {
	Enabled       bool
	ID, Namespace string
}

// ManagerOptions are those of a manager in a process of several replicas that serves its metrics itself.
func ManagerOptions(scheme *runtime.Scheme, watched cache.Options, l Lease, logger *slog.Logger) ctrl.Options {
	duration, deadline, period, end, warm := leaseDuration, renewDeadline, retryPeriod, endTimeout, true
	return ctrl.Options{
		Scheme:                        scheme,
		Logger:                        logr.FromSlogHandler(logger.Handler()),
		Cache:                         watched,
		Metrics:                       metricsserver.Options{BindAddress: "0"}, // the process serves them, whatever the manager does
		LeaderElection:                l.Enabled,
		LeaderElectionID:              l.ID,
		LeaderElectionNamespace:       l.Namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &duration,
		RenewDeadline:                 &deadline,
		RetryPeriod:                   &period,
		GracefulShutdownTimeout:       &end,
		Controller:                    ctrlconfig.Controller{EnableWarmup: &warm},
	}
}
