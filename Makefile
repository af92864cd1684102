# Stagewright. `make help` lists what there is to do.

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
BIN         := $(CURDIR)/bin
LINT        := $(BIN)/golangci-lint
# The linter's cache remembers where files were; a cache of each checkout's own keeps the others' files out of it.
export GOLANGCI_LINT_CACHE := $(BIN)/lint-cache
GOTESTSUM   := $(BIN)/gotestsum
RESULTS     := $(BIN)/test-results.json
# A test that fails may run once more where a whole run would be lost by it; hack/check-results names such tests.
RERUN       := $(if $(AGAIN),--rerun-fails=1 --rerun-fails-max-failures=3 --rerun-fails-run-root-test \
	--rerun-fails-abort-on-data-race)
PLANE       := tools/controlplane
# The module's other packages need minutes to compile once more with the race detector, or for the linter.
PLANE_LIGHT := ./internal/...

# Real programs that tests talk to. Each has a module of its own in tools/peers, and a test that skips without it.
TEST_PEERS  := $(BIN)/versitygw

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w \
	-X github.com/stagewright/stagewright/internal/version.Version=$(VERSION) \
	-X github.com/stagewright/stagewright/internal/version.Commit=$(COMMIT)

.DEFAULT_GOAL := help

##@ Start here

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} \
		/^##@/ {printf "\n\033[1m%s\033[0m\n", substr($$0, 5)} \
		/^[a-z][a-z-]*:.*## / {printf "  \033[36m%-16s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: build ## Render examples over HTTP, then roll snippets out on a control plane (OPERATOR=0: without); EXIT=1 stops by itself
	@EXIT="$(EXIT)" OPERATOR="$(OPERATOR)" hack/demo $(BIN)/renderer $(BIN)/stageset-controller

.PHONY: test
test: $(GOTESTSUM) $(TEST_PEERS) controlplane ## Run every test with a control plane, the race detector and in random order (AGAIN=1: up to three that fail run once more)
	cd $(PLANE) && $(GOTESTSUM) --format pkgname --jsonfile $(BIN)/test-results-controlplane.json $(RERUN) \
		--packages $(PLANE_LIGHT) -- -race -shuffle=on
	hack/with-controlplane $(GOTESTSUM) --format pkgname --jsonfile $(RESULTS) $(RERUN) --packages ./... -- \
		-race -shuffle=on -timeout 20m

.PHONY: controlplane
controlplane: ## Build the control plane for tests, once (about 5 minutes on two cores)
	@hack/build-controlplane $(BIN)/controlplane

##@ Develop

.PHONY: build
build: ## Build the programs into bin/
	@mkdir -p $(BIN)
	go build -trimpath -ldflags "$(LDFLAGS)" -o $(BIN)/ ./cmd/...

.PHONY: editors
editors: ## Build the VS Code extension, from npm packages
	@command -v npm >/dev/null || { echo "npm is needed: 'make deps' installs it" >&2; exit 1; }
	cd editors/vscode && npm ci --prefer-offline --no-audit --no-fund && npm run check && npm run build

.PHONY: generate
generate: ## Write everything that is made from code
	go generate ./...

.PHONY: fmt
fmt: $(LINT) ## Format the Go code
	$(LINT) fmt ./...
	cd $(PLANE) && $(LINT) fmt ./...

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (default 20s) each
	@hack/fuzz "$${FUZZTIME:-20s}"

.PHONY: bench
bench: ## Measure, and print tables; those of the operator are in docs/performance.md
	go run ./test/bench

##@ Check

.PHONY: verify
verify: verify-generated verify-modules lint vulnerabilities ## Everything a change must pass besides the tests

.PHONY: verify-generated
verify-generated: ## Regenerate, and fail when the tree differs
	@hack/unchanged "generated files: run 'make generate' and commit" go generate ./...

.PHONY: verify-modules
verify-modules: ## go mod tidy and verify, and fail when the tree differs
	@hack/unchanged "go.mod or go.sum: run 'go mod tidy' and commit" go mod tidy
	@cd $(PLANE) && $(CURDIR)/hack/unchanged "$(PLANE): run 'go mod tidy' there and commit" go mod tidy
	go mod verify
	cd tools/dev && go mod verify
	cd tools/codegen && go mod verify
	cd $(PLANE) && go mod verify

.PHONY: lint
lint: $(LINT) ## Format check, vet and lint; the reasons are in .golangci.yml
	$(LINT) run ./...
	cd $(PLANE) && $(LINT) run $(PLANE_LIGHT)

.PHONY: vulnerabilities
vulnerabilities: ## Look for known vulnerabilities, where a database can be had (GOVULNDB)
	@hack/vulnerabilities

##@ Machine

.PHONY: deps
deps: ## Install what tests, demo and editors need from the system, on Debian (the only target that installs anything)
	@hack/deps

.PHONY: peers
peers: $(TEST_PEERS) ## Build the programs that tests talk to

.PHONY: clean
clean: ## Remove what was built
	rm -rf $(BIN) editors/vscode/node_modules editors/vscode/dist

$(LINT): tools/dev/go.mod tools/dev/go.sum
	@echo "building the linter once (about two minutes on two cores)"
	@mkdir -p $(BIN)
	cd tools/dev && go build -trimpath -ldflags "-s -w" -o $(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint

$(GOTESTSUM): tools/dev/go.mod tools/dev/go.sum
	@mkdir -p $(BIN)
	cd tools/dev && go build -trimpath -ldflags "-s -w" -o $(GOTESTSUM) gotest.tools/gotestsum

$(BIN)/versitygw: tools/peers/versitygw/go.mod tools/peers/versitygw/go.sum
	@echo "building the S3 server of the tests once (about a minute on two cores)"
	@mkdir -p $(BIN)
	cd tools/peers/versitygw && go build -trimpath -ldflags "-s -w" -o $@ github.com/versity/versitygw/cmd/versitygw
