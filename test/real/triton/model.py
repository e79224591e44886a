"""A model for Triton's Python backend that takes and gives what the vLLM backend
does, or TensorRT-LLM's ensemble, by its configuration. It says four words; what
else it does is in the prompt."""

import json
import threading
import time

import numpy
import triton_python_backend_utils as triton

FINAL = triton.TRITONSERVER_RESPONSE_COMPLETE_FINAL
WORDS = ["Hel", "lo ", "杭", "👋"]


def text(word):
    return numpy.array([word.encode()], dtype=object)


def count(n):
    return numpy.array([n], dtype=numpy.uint32)


class TritonPythonModel:
    def initialize(self, args):
        self.inputs = [i["name"] for i in json.loads(args["model_config"])["input"]]
        self.vllm = "sampling_parameters" in self.inputs

    def execute(self, requests):
        for request in requests:
            threading.Thread(target=self.answer, args=(request, request.get_response_sender())).start()

    def answer(self, request, sender):
        said = {}
        for name in self.inputs:
            tensor = triton.get_input_tensor_by_name(request, name)
            if tensor is not None:
                said[name] = [v.decode() if isinstance(v, bytes) else v.item() for v in tensor.as_numpy().flat]
        print("ASKED", json.dumps(said, sort_keys=True), flush=True)
        prompt = said["text_input"][0]
        words = WORDS * 1000 if "endless" in prompt else WORDS
        for i, word in enumerate(words):
            error = None
            if "refuse" in prompt:
                error = triton.TritonError("it is refused", triton.TritonError.INVALID_ARG)
            elif "midway" in prompt and i == 2:
                error = triton.TritonError("no memory", triton.TritonError.UNAVAILABLE)
            elif sender.is_cancelled():
                print("CANCELLED", flush=True)
                error = triton.TritonError("Request was cancelled", triton.TritonError.CANCELLED)
            if error:
                sender.send(triton.InferenceResponse(error=error), FINAL)
                return
            last = i == len(words) - 1
            outputs = [triton.Tensor("text_output", text(word))]
            if self.vllm:
                outputs += [
                    triton.Tensor("finish_reason", text("length" if last else "None")),
                    triton.Tensor("num_input_tokens", count(9)),
                    triton.Tensor("num_output_tokens", count(1)),
                ]
            sender.send(triton.InferenceResponse(outputs), FINAL if last and self.vllm else 0)
            if "endless" in prompt:
                time.sleep(0.05)
        if not self.vllm:
            sender.send(flags=FINAL)
