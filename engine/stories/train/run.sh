#!/bin/sh
# Makes stories.gguf anew: generates the text, trains the tokenizer and the model, writes the GGUF beside stories.go.
#
#   engine/stories/train/run.sh [FOLDER]
#
# FOLDER (train-stories in the cache of Dragoman without it) keeps the data and the checkpoints: run it again after an
# interruption and it goes on. Needs Debian (or a kin) for PyTorch and OpenBLAS; half an hour to an hour on two cores.
# To score the result: start the gateway, then engine/stories/train/score.py.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/dragoman/train-stories}
python=/usr/bin/python3
packages="python3-torch python3-numpy libopenblas0-openmp"

need() {
	for p in $packages; do
		dpkg -s "$p" >/dev/null 2>&1 || return 0
	done
	return 1
}
if need; then
	if [ "$(id -u)" != 0 ]; then
		echo "run.sh needs packages; as root: apt-get install $packages" >&2
		exit 1
	fi
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $packages
fi
mkdir -p "$work"
cd "$work"

# A step that was interrupted leaves only a .part file.
chats() { # name, how many, seed, flags
	[ -f "$1.npz" ] || {
		"$python" "$here/generate.py" "$2" "$3" $4 >"$1.jsonl"
		"$python" "$here/prepare.py" tokenizer.json "$1.part.npz" <"$1.jsonl"
		mv "$1.part.npz" "$1.npz"
		rm "$1.jsonl"
	}
}
[ -f tokenizer.json ] || {
	"$python" "$here/generate.py" 12000 7 >text.jsonl
	"$python" "$here/tokenizer.py" 2048 tokenizer.part <text.jsonl
	mv tokenizer.part tokenizer.json
	rm text.jsonl
}
chats check 2000 99 ""
chats warm 10000 21 --brief
chats main 76000 22 ""

# PyTorch of Debian multiplies with the BLAS of the system. On some virtual machines OpenBLAS does not know the CPU and
# falls back to code for one of 2004; and without the malloc settings glibc hands every tensor back to the kernel, so
# that most of the time goes into page faults. Each of the two makes a step about three to five times slower.
half=
if grep -qw avx512f /proc/cpuinfo; then
	export OPENBLAS_CORETYPE=SkylakeX
elif grep -qw avx2 /proc/cpuinfo; then
	export OPENBLAS_CORETYPE=Haswell
fi
if grep -qw amx_bf16 /proc/cpuinfo; then
	half=--half
fi
export MALLOC_MMAP_THRESHOLD_=17179869184 MALLOC_TRIM_THRESHOLD_=17179869184 MALLOC_TOP_PAD_=67108864
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-2}" OMP_WAIT_POLICY=passive
export LD_LIBRARY_PATH="/usr/lib/$(uname -m)-linux-gnu/openblas-openmp"
"$python" "$here/train.py" $half --steps 2400 --warm warm.npz --warm-steps 300 model.pt check.npz main.npz
"$python" "$here/export.py" model.pt tokenizer.json stories.part
mv stories.part "$here/../stories.gguf"
echo "wrote $(cd "$here/.." && pwd)/stories.gguf"
