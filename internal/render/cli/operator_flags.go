package cli

import (
	"github.com/stagewright/stagewright/internal/flags"
	"github.com/stagewright/stagewright/internal/kube/webhookserve"
)

const operatorNote = "active only with --enable-gitops-integration"

func (o *operatorConfig) operatorFlags() flags.Group {
	return flags.Group{Title: "Operator", Note: operatorNote, Flags: []flags.Flag{
		{Name: "enable-gitops-integration", Target: &o.enabled, Help: "start the operator that watches JsonnetSnippet and JsonnetLibrary and publishes results as ExternalArtifact resources"},
		{Name: "concurrent", Target: &o.concurrent, Help: "snippets that are worked on at a time; their evaluations count against --max-concurrent-evals, of which they take half at most"},
		{Name: "default-service-account", Target: &o.defaultServiceAccount, Help: "ServiceAccount impersonated when a JsonnetSnippet has no spec.serviceAccountName; empty means such snippets are rejected at reconcile time"},
		{Name: "kubeconfig", Target: &o.cluster.kubeconfig, Environment: "KUBECONFIG", Help: "path to a kubeconfig; without one the in-cluster credentials are used"},
		{Name: "label-selector", Target: &o.labelSelector, Help: "narrows the watch to resources matching the selector; empty selects all in scope"},
		{Name: "no-cross-namespace-refs", Target: &o.noCrossNamespaceRefs, Help: "reject JsonnetSnippet and library resources whose SourceRef is in another namespace"},
		{Name: "readiness-requires-operator", Target: &o.readinessRequires, Help: "once: ready when the manager's cache has synced once; never: readiness tracks only the HTTP listeners"},
		{Name: "watch-namespaces", Target: &o.cluster.watchNamespaces, Environment: "RENDERER_WATCH_NAMESPACES", Help: "comma-separated namespaces to watch; empty means cluster-wide; when set, the cache observes only those namespaces"},
	}}
}

func (o *operatorConfig) publishFlags() flags.Group {
	return flags.Group{Title: "Publishing", Note: operatorNote, Flags: []flags.Flag{
		{Name: "artifact-gc-grace", Target: &o.publish.artifactGCGrace, Help: "minimum retention of a superseded artifact revision; 0 restores eager pruning"},
		{Name: "max-artifact-bytes", Target: &o.publish.maxArtifactBytes, Help: "published artifact size in bytes; 0 disables the cap"},
		{Name: "max-withdraw-wait", Target: &o.publish.maxWithdrawWait, Help: "how long a deleted snippet's finalizer can be held"},
		{Name: "rerender-burst", Target: &o.publish.rerenderBurst, Help: "per-snippet token-bucket depth for re-rendering"},
		{Name: "rerender-rate", Target: &o.publish.rerenderRate, Help: "per-snippet steady re-render budget in the form N/period, where the period is sec, min or hour; combined with the burst"},
	}}
}

func (o *operatorConfig) storageFlags() flags.Group {
	return flags.Group{Title: "Storage server", Note: operatorNote, Flags: []flags.Flag{
		{Name: "storage-backend", Target: &o.storage.backend, Help: "local or s3 (any S3-compatible object store; pairs with leader election for HA across replicas)"},
		{Name: "storage-base-url", Target: &o.storage.baseURL, Help: "public URL prefix under which tarballs are served; required with --enable-gitops-integration"},
		{Name: "storage-listen-address", Target: &o.storage.server.address, Help: "bind address of the storage server"},
		{Name: "storage-path", Target: &o.storage.path, Help: "directory where tarballs are written; required with --enable-gitops-integration"},
		{Name: "storage-port", Target: &o.storage.server.port, Help: "port of the storage server"},
		{Name: "storage-read-timeout", Target: &o.storage.server.readTimeout, Help: "limit for reading a request on the storage server"},
		{Name: "storage-write-timeout", Target: &o.storage.server.writeTimeout, Help: "limit for writing a response on the storage server; generous because tarballs can be megabytes"},
		{Name: "storage-sweep-interval", Target: &o.storage.sweepInterval, Help: "how often orphan tmp files are swept; 0 disables"},
		{Name: "storage-sweep-max-tmp-age", Target: &o.storage.sweepMaxTmpAge, Help: "minimum age before a tmp file is swept"},
	}}
}

func (o *operatorConfig) s3Flags() flags.Group {
	return flags.Group{Title: "Object store", Note: "active only with --storage-backend=s3", Flags: []flags.Flag{
		{Name: "s3-access-key", Target: &o.s3.accessKey, Help: "static access key id; empty triggers the ambient identity discovery chain"},
		{Name: "s3-secret-key", Target: &o.s3.secretKey, Help: "static secret access key, paired with the access key"},
		{Name: "s3-session-token", Target: &o.s3.sessionToken, Help: "optional session token for temporary credentials"},
		{Name: "s3-anonymous", Target: &o.s3.anonymous, Help: "skip request signing; only for public buckets in test or development"},
		{Name: "s3-bucket", Target: &o.s3.bucket, Help: "bucket for artifacts; must already exist; required"},
		{Name: "s3-endpoint", Target: &o.s3.endpoint, Help: "host:port of the object store; required"},
		{Name: "s3-prefix", Target: &o.s3.prefix, Help: "optional key prefix under the bucket"},
		{Name: "s3-region", Target: &o.s3.region, Help: "region of the bucket"},
		{Name: "s3-use-ssl", Target: &o.s3.useSSL, Help: "use HTTPS to the endpoint"},
	}}
}

func (o *operatorConfig) webhookFlags() flags.Group {
	return o.webhook.Flags(webhookserve.Words{
		Enable:    "start the validating admission webhook for JsonnetSnippet; needs a TLS cert and key in the cert directory, and --enable-gitops-integration",
		Maker:     "operator",
		Namespace: "--leader-election-namespace, then to the in-cluster namespace",
	})
}

func (o *operatorConfig) leaderFlags() flags.Group {
	return flags.Group{Title: "Leader election", Note: operatorNote, Flags: []flags.Flag{
		{Name: "leader-election", Target: &o.leader.enabled, Help: "only one operator replica reconciles at a time; honored only in operator mode"},
		{Name: "leader-election-id", Target: &o.leader.id, Help: "lease object name; unique among installations that share a namespace"},
		{Name: "leader-election-namespace", Target: &o.leader.namespace, Help: "namespace of the lease; empty means the pod namespace: POD_NAMESPACE, else the pod's file, else that of the kubeconfig's context"},
	}}
}

func (o *operatorConfig) observeFlags() flags.Group {
	return flags.Group{Title: "Metrics and tracing", Flags: []flags.Flag{
		{Name: "metrics-bind-address", Target: &o.observe.metricsAddress, Help: "bind address of the metrics endpoint, served by the process itself; 0 disables; bound only in operator mode"},
		{Name: "tracing-endpoint", Target: &o.observe.tracingEndpoint, Help: "OTLP gRPC collector host:port; empty disables tracing"},
		{Name: "tracing-insecure", Target: &o.observe.tracingInsecure, Help: "skip TLS towards the collector"},
		{Name: "tracing-sample-ratio", Target: &o.observe.sampleRatio, Help: "trace-id ratio sampling between 0.0 and 1.0"},
	}}
}
