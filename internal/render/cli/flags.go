package cli

import (
	"github.com/stagewright/stagewright/internal/flags"
)

const summary = `
renderer evaluates Jsonnet snippets over HTTP and answers with JSON or YAML.

A snippet is a file given with --snippet, served under exactly the path that was given, or the main.jsonnet of a
subdirectory of a --snippet-directory, served under the subdirectory's name. Query parameters are its top-level
arguments. As an operator (--enable-gitops-integration) it renders JsonnetSnippet objects of a Kubernetes cluster.
`

// Table returns the renderer's flags with their defaults.
func Table() flags.Table { return defaults().table() }

func (c *config) table() flags.Table {
	return flags.Table{
		Program: "renderer",
		Summary: summary,
		Examples: []flags.Example{
			{Purpose: "serve a directory of snippets", Command: "renderer --snippet-directory snippets --library-path vendor"},
			{Purpose: "render one of them", Command: "curl 'http://127.0.0.1:8080/jsonnet/dashboard?team=payments'"},
			{Purpose: "render the JsonnetSnippet objects of a cluster", Command: "renderer --enable-gitops-integration --storage-path /data --storage-base-url http://renderer.flux-system:8082"},
		},
		Groups: []flags.Group{
			c.servingFlags(), c.snippetFlags(), c.limitFlags(), c.processFlags(),
			c.operator.operatorFlags(), c.operator.publishFlags(), c.operator.storageFlags(), c.operator.s3Flags(),
			c.operator.webhookFlags(), c.operator.leaderFlags(), c.operator.observeFlags(),
		},
		Variables: []flags.Variable{{
			Name: externalPrefix + "<NAME>",
			Help: "exposes <NAME> as an external variable; --ext-var wins over it",
		}, {
			Name: "POD_NAMESPACE",
			Help: "the namespace of the pod, for the lease and the webhook's Service where their flags are empty; without it the " +
				"file that a pod has is read, and then the kubeconfig's context",
		}},
	}
}

func (c *config) servingFlags() flags.Group {
	return flags.Group{Title: "Servers", Flags: []flags.Flag{
		{Name: "jsonnet-endpoint-path", Target: &c.endpoint, Help: "path of the Jsonnet endpoint; may have several segments"},
		{Name: "listen-address", Target: &c.jsonnet.address, Help: "bind address of the Jsonnet server"},
		{Name: "port", Target: &c.jsonnet.port, Help: "port of the Jsonnet server; 0 takes a free one, which the log names"},
		{Name: "read-timeout", Target: &c.jsonnet.readTimeout, Help: "limit for reading a whole request, including the body, on the Jsonnet server; 0 disables"},
		{Name: "write-timeout", Target: &c.jsonnet.writeTimeout, Help: "limit for writing the response on the Jsonnet server, counted from when the response begins; 0 disables"},
		{Name: "management-listen-address", Target: &c.management.address, Help: "bind address of the management server, which has the probes /start, /ready and /live"},
		{Name: "management-port", Target: &c.management.port, Help: "port of the management server"},
		{Name: "management-read-timeout", Target: &c.management.readTimeout, Help: "limit for reading a whole request on the management server; 0 disables"},
		{Name: "management-write-timeout", Target: &c.management.writeTimeout, Help: "limit for writing the response on the management server; 0 disables"},
		{Name: "shutdown-delay", Target: &c.shutdownDelay, Help: "time to wait after readiness turns false before graceful shutdown starts; a second signal ends it; 0 disables"},
	}}
}

func (c *config) snippetFlags() flags.Group {
	return flags.Group{Title: "Snippets", Flags: []flags.Flag{
		{Name: "snippet", Target: &c.snippets.files, Help: "path of a Jsonnet file to serve; the value is used verbatim both as the file to evaluate and as the request path under the endpoint path"},
		{Name: "snippet-directory", Target: &c.snippets.directories, Help: "directory whose subdirectories are snippets; the subdirectory name is the snippet name, and its main.jsonnet is evaluated; when several have a name, the first one wins"},
		{Name: "library-path", Target: &c.snippets.libraries, Help: "directory of Jsonnet libraries; when several match, the rightmost one wins"},
		{Name: "ext-var", Target: &c.snippets.externals, Help: "external variable as KEY=VALUE; wins over environment variables on a key conflict"},
	}}
}

func (c *config) limitFlags() flags.Group {
	return flags.Group{Title: "Evaluation limits", Flags: []flags.Flag{
		{Name: "evaluation-timeout", Target: &c.limits.timeout, Help: "limit for one Jsonnet evaluation; 0 disables"},
		{Name: "max-concurrent-evals", Target: &c.limits.maxConcurrent, DefaultText: defaultMaxConcurrentText, Help: "evaluations in flight; excess requests get 503; 0 disables"},
		{Name: "max-evaluation-memory", Target: &c.limits.maxMemory, Help: "memory that one evaluation may hold; all evaluations together may hold half of GOMEMLIMIT, or of the container's limit, and get 503 beyond that; 0 disables"},
		{Name: "max-stack", Target: &c.limits.maxStack, Help: "Jsonnet call-stack depth; 0 uses the evaluator default"},
	}}
}

func (c *config) processFlags() flags.Group {
	return flags.Group{Title: "Process", Flags: []flags.Flag{
		{Name: "log-format", Target: &c.logFormat, Help: "json or text"},
		{Name: "log-level", Target: &c.logLevel, Help: "debug, info, warn or error"},
		{Name: "version", Target: &c.version, Help: "print the version and exit"},
	}}
}
