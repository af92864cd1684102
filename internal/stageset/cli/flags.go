package cli

import (
	"github.com/stagewright/stagewright/internal/flags"
	"github.com/stagewright/stagewright/internal/kube/webhookserve"
)

const summary = `
stageset-controller rolls Flux artifacts out in ordered, health-gated stages.

It reconciles StageSet objects of a Kubernetes cluster: it fetches the artifacts that a StageSet's stages name,
applies them stage by stage, and goes on when a stage is healthy. It is configured by flags alone.
`

// Table returns the stage controller's flags with their defaults.
func Table() flags.Table { return defaults().table() }

func (c *config) table() flags.Table {
	return flags.Table{
		Program: program,
		Summary: summary,
		Examples: []flags.Example{
			{Purpose: "run in a pod, as one of several replicas", Command: program + " --leader-elect"},
			{Purpose: "run on a developer's machine, without a webhook", Command: program + " --kubeconfig ~/.kube/config --enable-webhook=false"},
			{Purpose: "ask whether a stage is ready", Command: "curl http://127.0.0.1:8082/gate/shop/shop/database"},
		},
		Groups: []flags.Group{
			c.clusterFlags(), c.reconcileFlags(), c.verificationFlags(), c.rollbackFlags(), c.serveFlags(),
			c.webhook.Flags(webhookserve.Words{
				Enable:    "validating admission webhook for StageSet",
				Maker:     "controller",
				Namespace: "the in-cluster ServiceAccount namespace",
			}),
			c.observeFlags(),
		},
		Variables: []flags.Variable{{
			Name: "POD_NAMESPACE",
			Help: "the namespace of the pod, for the lease, and for the webhook's Service where its flag is empty; without it the " +
				"file that a pod has is read, and then the kubeconfig's context",
		}},
	}
}

func (c *config) clusterFlags() flags.Group {
	return flags.Group{Title: "Cluster", Flags: []flags.Flag{
		{Name: "kubeconfig", Target: &c.cluster.kubeconfig, Environment: "KUBECONFIG", Help: "path to a kubeconfig; without one the in-cluster credentials are used"},
		{Name: "leader-elect", Target: &c.cluster.leaderElect, Help: "enable leader election, by the lease " + leaseName + " in the pod's namespace: one of several replicas reconciles, all serve gate and webhook"},
		{Name: "watch-namespaces", Target: &c.cluster.watchNamespaces, Environment: watchVariable, Help: "comma-separated namespaces; empty means cluster-wide; when set, the cache observes StageSets and sources only there"},
		{Name: "no-cross-namespace-refs", Target: &c.reconcile.noCrossNamespaceRefs, Help: "deny cross-namespace sourceRef, dependsOn and adoptFrom references"},
	}}
}

func (c *config) reconcileFlags() flags.Group {
	return flags.Group{Title: "Reconciling", Flags: []flags.Flag{
		{Name: "concurrent", Target: &c.reconcile.concurrent, Help: "StageSets that are worked on at a time; one that waits is not worked on"},
		{Name: "default-interval", Target: &c.reconcile.defaultInterval, Help: "reconcile cadence for StageSets without spec.interval"},
		{Name: "inventory-shard-cap", Target: &c.reconcile.shardCap, Help: "maximum entries per StageInventory shard"},
		{Name: "max-teardown-wait", Target: &c.reconcile.maxTeardownWait, Help: "how long a deleting StageSet's finalizer is held"},
		{Name: "object-level-kms", Target: &c.reconcile.objectLevelKMS, Help: "decrypt secret-file cloud KMS keys with each StageSet serviceAccountName federated to a cloud identity instead of ambient credentials; the tenant ServiceAccount must be federated and granted KMS decrypt"},
		{Name: "allowed-action-hosts", Target: &c.actions.allowedHosts, Help: "host glob allowed for http actions; loopback and link-local ranges are denied unless listed explicitly"},
	}}
}

func (c *config) verificationFlags() flags.Group {
	return flags.Group{Title: "Verification", Flags: []flags.Flag{
		{Name: "require-image-verification", Target: &c.images.required, Help: "when true, a stage whose rendered images match no ImageVerificationPolicy is held; when false, only images governed by a policy are verified and others apply unchanged"},
		{Name: "image-verification-insecure-registry", Target: &c.images.insecureRegistries, Help: "registry host[:port] pulled over plain HTTP during image verification; affects only verification bundle fetches"},
		{Name: "image-verification-trusted-root", Target: &c.images.trustedRoot, Help: "path to an offline trusted-root JSON for image verification; empty fetches the public root over TUF on first use"},
		{Name: "require-pinned-migration-sources", Target: &c.sources.pinned, Help: "require spec.migrationsSourceRef to point at an immutable revision before its destructive migration ladder runs; when false, a mutably pinned source still runs and a Warning event is emitted"},
		{Name: "require-verified-migration-sources", Target: &c.sources.verified, Help: "require a migration source to be signature-verified (SourceVerified=True) before its ladder runs; a source whose verification failed is always refused; when true, sources with no verification configured are refused as well"},
	}}
}

func (c *config) rollbackFlags() flags.Group {
	r, s3 := &c.rollback, &c.rollback.s3
	return flags.Group{Title: "Rollback store", Note: "a directory or an object store; without either a rollback fetches the producer's artifact again", Flags: []flags.Flag{
		{Name: "rollback-store-path", Target: &r.path, Help: "directory, for example a shared read-write volume for HA replicas; it holds rendered output that can include decrypted Secret data, so the volume must provide encryption at rest"},
		{Name: "rollback-store-s3-endpoint", Target: &s3.Endpoint, Help: "host:port of the store; empty disables the store"},
		{Name: "rollback-store-s3-bucket", Target: &s3.Bucket, Help: "bucket"},
		{Name: "rollback-store-s3-prefix", Target: &s3.Prefix, Help: "key prefix within the bucket"},
		{Name: "rollback-store-s3-region", Target: &s3.Region, Help: "region"},
		{Name: "rollback-store-s3-access-key", Target: &s3.AccessKey, Help: "access key; empty engages the client ambient identity discovery chain"},
		{Name: "rollback-store-s3-secret-key", Target: &s3.SecretKey, Help: "secret key"},
		{Name: "rollback-store-s3-session-token", Target: &s3.SessionToken, Help: "optional session token"},
		{Name: "rollback-store-s3-anonymous", Target: &s3.Anonymous, Help: "send unsigned requests"},
		{Name: "rollback-store-s3-use-ssl", Target: &s3.UseSSL, Help: "use TLS towards the endpoint"},
		{Name: "rollback-store-s3-sse", Target: &r.sse, Help: "none, s3 or kms; encryption at rest for stored objects; none only for backends that cannot honor an encryption header"},
		{Name: "rollback-store-s3-sse-kms-key", Target: &r.kmsKey, Help: "KMS key ARN or id when sse=kms; empty uses the bucket default key"},
	}}
}

func (c *config) serveFlags() flags.Group {
	return flags.Group{Title: "Servers", Flags: []flags.Flag{
		{Name: "health-probe-bind-address", Target: &c.serve.probes, Help: "bind address of the probe endpoint, which has /healthz and /readyz"},
		{Name: "metrics-bind-address", Target: &c.serve.metrics, Help: "bind address of the metrics endpoint; exposes controller_runtime_*, workqueue_* and stageset_* series; 0 disables"},
		{Name: "gate-bind-address", Target: &c.serve.gate, Help: "bind address of the gate endpoint; empty disables it"},
	}}
}

func (c *config) observeFlags() flags.Group {
	return flags.Group{Title: "Tracing and process", Flags: []flags.Flag{
		{Name: "tracing-endpoint", Target: &c.tracing.endpoint, Help: "OTLP gRPC collector host:port; empty disables tracing"},
		{Name: "tracing-insecure", Target: &c.tracing.insecure, Help: "skip TLS towards the collector"},
		{Name: "tracing-sample-ratio", Target: &c.tracing.sampleRatio, Help: "trace-id ratio sampling between 0.0 and 1.0"},
		{Name: "log-format", Target: &c.process.logFormat, Help: "json or text"},
		{Name: "log-level", Target: &c.process.logLevel, Help: "debug, info, warn or error"},
		{Name: "version", Target: &c.process.version, Help: "print the version and exit"},
	}}
}
