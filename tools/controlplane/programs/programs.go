package programs

import (
	"fmt"
	"os"
	"slices"
	_ "time/tzdata" // CronJobs may name a time zone on a machine that has no database of them

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubectl's credential plugins
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of the clients
	_ "k8s.io/component-base/metrics/prometheus/version"  // metric of the version
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kwokconfig "sigs.k8s.io/kwok/pkg/config"
	kwok "sigs.k8s.io/kwok/pkg/kwok/cmd"
	kwoklog "sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/signals"
)

// Names lists the programs.
func Names() []string {
	return []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok"}
}

// Is tells whether name is one of the programs.
func Is(name string) bool { return slices.Contains(Names(), name) }

// Run runs the program args[0] with the other arguments and returns its exit code. The programs read os.Args and may
// end the process themselves, so it is for main only.
func Run(args []string) int {
	os.Args = args
	switch args[0] {
	case "etcd":
		etcdmain.Main(args)
		return 0
	case "kube-apiserver":
		return cli.Run(apiserver.NewAPIServerCommand())
	case "kube-controller-manager":
		return cli.Run(controllermanager.NewControllerManagerCommand())
	case "kube-scheduler":
		return cli.Run(scheduler.NewSchedulerCommand())
	case "kubectl":
		return runKubectl()
	case "kwok":
		return runKwok()
	default:
		fmt.Fprintf(os.Stderr, "controlplane: there is no program %q\n", args[0])
		return 2
	}
}

func runKubectl() int {
	command := cmd.NewDefaultKubectlCommand()
	if err := cli.RunNoErrOutput(command); err != nil {
		util.CheckErr(err) // prints and exits as kubectl does
		return 1
	}
	return 0
}

func runKwok() int {
	// The Kubernetes programs have registered a flag "version" for every program of the process; kwok has its own.
	pflag.CommandLine = pflag.NewFlagSet("kwok", pflag.ExitOnError)

	flags := pflag.NewFlagSet("global", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	ctx, logger := kwoklog.InitFlags(signals.SetupSignalContext(), flags)
	ctx, err := kwokconfig.InitFlags(ctx, flags)
	if err != nil {
		logger.Error("reading the configuration", "err", err)
		return 1
	}
	command := kwok.NewCommand(ctx)
	command.PersistentFlags().AddFlagSet(flags)
	if err := command.ExecuteContext(ctx); err != nil {
		logger.Error("running kwok", "err", err)
		return 1
	}
	return 0
}
