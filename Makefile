# make help lists the targets. Everything sets itself up; Go and npm are the
# only prerequisites (make clients wants Python 3 too).

# The toolchain this project is built with; an older go fetches it by itself.
export GOTOOLCHAIN = go1.27.3
export CGO_ENABLED ?= 0

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
TOOL    := go tool -modfile=test/tools/go.mod
LIBS    := bin/lib

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## build all and start the gateway with the bundled engine
	bin/dragoman -config config.yaml

build: build-gateway build-engine ## build the gateway, the engine and fetch its libraries

build-gateway: ## build bin/dragoman alone: needs only Go, fronts backends
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/dragoman ./gateway

build-engine: libs ## build bin/dragoman-engine and fetch its libraries (npm); DEVICE=vulkan or cuda: a GPU's too
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/dragoman-engine ./engine

libs:
	engine/lib/install.sh $(LIBS) $(DEVICE)

test: build ## all tests, with the real engine and the Go clients
	DRAGOMAN_LLAMA_LIB=$(CURDIR)/$(LIBS) go test -tags llama ./...
	cd test/sdk && go test ./...

vulkan: ## the engine on Vulkan: a GPU, or the processor by Mesa's llvmpipe
	engine/lib/install.sh bin/lib-vulkan vulkan
	DRAGOMAN_LLAMA_LIB=$(CURDIR)/bin/lib-vulkan go test -tags llama,vulkan -run Vulkan ./engine

race: ## the tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 go test -race -short ./adapters/... ./gateway/... ./engine/sched/... ./engine/serve/... ./test/...

clients: build ## real OpenAI clients of today and of 2023, in Python and Node.js
	test/clients/setup.sh
	go test -tags clients -count=1 -v ./test/clients

real: build ## real servers behind the gateway: FastChat, llama-server, vLLM ... (half an hour at first)
	test/real/run.sh

templates: ## chat templates of the public, against what Python makes of them (npm)
	go test -count=1 -tags templates ./adapters/prompt

fuzz: ## every fuzz target for FUZZTIME (10s)
	test/fuzz.sh $(or $(FUZZTIME),10s)

bench: ## nanoseconds and allocations of the hot path
	go test -run '^$$' -bench . -benchmem ./adapters/... ./gateway/...

figures: ## latency and chunks per second of the whole gateway
	go test -run '^$$' -bench . -benchtime 3s ./test/bench

bench-engine: build-engine ## the bundled engine against llama-server, in one table (builds that one first: ten minutes)
	test/real/setup.sh llamacpp smollm2
	go run ./test/bench/engine $(BENCH)

bench-gpu: DEVICE := $(or $(DEVICE),vulkan)
bench-gpu: build-engine ## check the engine on a GPU (DEVICE=vulkan, cuda, metal) and compare it with the processor
	test/real/setup.sh smollm2
	bin/dragoman-engine -check -device $(DEVICE)
	go run ./test/bench/engine -gpu $(DEVICE) $(BENCH)

stories: ## train the built-in model anew (Debian, about an hour)
	engine/stories/train/run.sh

lint: ## gofumpt, go vet, staticcheck
	@test -z "$$($(TOOL) gofumpt -l adapters engine gateway test)" || { $(TOOL) gofumpt -l adapters engine gateway test; echo 'run make fmt'; exit 1; }
	go vet -tags 'llama vulkan clients real templates' ./...
	$(TOOL) staticcheck -tags llama,vulkan,clients,real,templates ./...

fmt: ## format the Go code
	$(TOOL) gofumpt -w adapters engine gateway test

cross: ## vet and build for macOS and Windows
	@for os in darwin windows; do for arch in amd64 arm64; do \
		echo "$$os/$$arch"; \
		GOOS=$$os GOARCH=$$arch go vet ./... && \
		GOOS=$$os GOARCH=$$arch go build -o bin/cross/$$os-$$arch/ ./gateway ./engine || exit 1; \
	done; done

clean: ## remove what was built
	rm -rf bin

.PHONY: help run build build-gateway build-engine libs test race clients real templates fuzz bench figures bench-engine bench-gpu vulkan stories lint fmt cross clean
