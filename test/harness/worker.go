package harness

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Pirate is what PirateWorker answers.
const Pirate = "Aye, Red Hat be a fine operating system, arrr!"

// pirate is the worker's answer, as FastChat streams it: every frame has the
// whole text so far.
var pirate = []string{"Aye", "Aye, Red Hat", "Aye, Red Hat be a fine oper", Pirate}

func frame(text, finish string) string {
	quoted, _ := json.Marshal(text)
	return fmt.Sprintf(`{"text": %s, "error_code": 0, "usage": {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17}, "finish_reason": %s}␀¦`, quoted, finish)
}

const failure = `{"text": "the worker is out of memory", "error_code": 50001}␀`

// PirateWorker answers as a FastChat model worker that serves vicuna: the
// pirate's words, or, where the prompt says so, an error first ("fail first"),
// an error after some text ("fail midway"), or one word and then nothing
// ("slow"). An embedding is how long the text is, -0.25 and 1e-7; a text is three
// tokens.
func PirateWorker(r Received) Reply {
	switch r.Path {
	case "/worker_get_conv_template":
		return Reply{Unframed: true, Body: `{"conv":{"name":"vicuna_v1.1","system_template":"{system_message}","system_message":"A chat between a curious user and an artificial intelligence assistant.","roles":["USER","ASSISTANT"],"messages":[],"offset":0,"sep_style":2,"sep":" ","sep2":"</s>","stop_str":null,"stop_token_ids":null}}`}
	case "/worker_get_embeddings":
		return embeddings(r.Body)
	case "/worker_generate_stream":
	default:
		return Reply{Status: 404, Unframed: true, Body: `{"detail":"Not Found"}`}
	}
	switch {
	case strings.Contains(r.Body, "fail first"):
		return Reply{Body: failure}
	case strings.Contains(r.Body, "fail midway"):
		return Reply{Body: frame(pirate[0], "null") + frame(pirate[1], "null") + failure}
	case strings.Contains(r.Body, "slow"):
		return Reply{Body: frame(pirate[0], "null") + "⏸"}
	}
	body := ""
	for _, text := range pirate {
		body += frame(text, "null")
	}
	return Reply{Body: body + frame(Pirate, `"stop"`)}
}

func embeddings(body string) Reply {
	var asked struct{ Input []string }
	if err := json.Unmarshal([]byte(body), &asked); err != nil || strings.Contains(body, "fail first") {
		return Reply{Unframed: true, Body: strings.TrimSuffix(failure, "␀")}
	}
	var list [][]float32
	for _, text := range asked.Input {
		list = append(list, []float32{float32(len(text)), -0.25, 1e-7})
	}
	answer, _ := json.Marshal(map[string]any{"embedding": list, "token_num": 3 * len(list)})
	return Reply{Unframed: true, Body: string(answer)}
}
