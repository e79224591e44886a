package adapters

import (
	"log/slog"
	"net/http"
	"strings"

	"dragoman/adapters/llm"
)

// finishWords are the words that mean the same in every protocol that has them.
var finishWords = map[string]llm.Finish{
	"stop": llm.FinishStop, "eos": llm.FinishStop, "eos_token": llm.FinishStop,
	"stop_sequence": llm.FinishStop, "stop_token": llm.FinishStop, "end_turn": llm.FinishStop,
	"length": llm.FinishLength, "max_tokens": llm.FinishLength, "model_length": llm.FinishLength,
	"tool_calls": llm.FinishTools, "function_call": llm.FinishTools,
	"content_filter": llm.FinishFilter,
}

// FinishWord translates a backend's word for why it stopped: through known
// first, then through the words that are common to all. The words error, abort,
// cancelled and timeout, unless known has them, are an *llm.Error, as what came
// of the answer is not whole. An unknown word becomes stop and a line in the
// log, as a client must not see it. known may be nil.
func FinishWord(word string, known map[string]llm.Finish) (llm.Finish, error) {
	if f, ok := known[word]; ok {
		return f, nil
	}
	if f, ok := finishWords[word]; ok {
		return f, nil
	}
	switch word {
	case "error", "abort", "cancelled", "canceled", "preempt": // preempt: MLC-LLM
		return "", llm.Upstream(http.StatusBadGateway, "", "The backend broke its answer off (%s).", word)
	case "insufficient_system_resource": // DeepSeek
		return "", llm.Upstream(http.StatusServiceUnavailable, "", "The backend broke its answer off (%s).", word)
	case "timeout":
		return "", llm.Upstream(http.StatusGatewayTimeout, "", "The backend broke its answer off (timeout).")
	}
	slog.Warn("backend ended an answer for a reason unknown to the gateway; told the client stop", "reason", Clip(word, 64))
	return llm.FinishStop, nil
}

// Clip returns the first max bytes of s, whole characters and an ellipsis if
// that is not all, for messages.
func Clip[T ~string | ~[]byte](s T, max int) string {
	if len(s) > max {
		return strings.ToValidUTF8(string(s[:max]), "") + "..."
	}
	return string(s)
}
