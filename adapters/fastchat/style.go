package fastchat

import (
	"slices"
	"strings"
)

// styles are FastChat's separator styles under the numbers that they have in
// fastchat/conversation.py since Llama 3 (2024-04-23), and the templates that
// have them by name.
var styles = [...]struct {
	style
	templates []string
}{
	1: {style: layout{start: systemSep, mark: ": ", open: ":", after: sep}.render},           // ADD_COLON_SINGLE
	2: {style: colonTwo.render},                                                              // ADD_COLON_TWO
	3: {style: layout{start: systemSep, mark: ": ", open: ": ", after: sep}.render},          // ADD_COLON_SPACE_SINGLE
	4: {style: layout{start: system, after: sep}.render},                                     // NO_COLON_SINGLE
	5: {style: layout{start: system, after: eitherSep}.render},                               // NO_COLON_TWO
	6: {style: layout{start: systemSepOrNothing, mark: "\n", open: "\n", after: sep}.render}, // ADD_NEW_LINE_SINGLE
	7: {style: llama2},                                                                       // LLAMA2
	8: {llama3, []string{"llama-3"}},                                                         // LLAMA3
	9: {chatGLM, []string{"chatglm", "chatglm2"}},                                            // CHATGLM
	10: { // CHATML
		layout{start: systemSepLineOrNothing, mark: "\n", open: "\n", after: sepLine}.render,
		[]string{
			"Nous-Hermes-2-Mixtral-8x7B-DPO", "OpenHermes-2.5-Mistral-7B", "TinyLlama", "Yi-34b-chat", "catppt",
			"dolphin-2.2.1-mistral-7b", "lemur-70b-chat", "llava-chatml", "mistral-7b-openorca", "mpt-30b-chat",
			"mpt-7b-chat", "orca-2", "qwen-7b-chat", "starchat", "zephyr",
		},
	},
	11: {chatIntern, []string{"internlm-chat"}}, // CHATINTERN
	12: { // DOLLY
		layout{start: system, mark: ":\n", open: ":\n", after: dollySep}.render,
		[]string{"dolly_v2", "vigogne_instruct"},
	},
	13: {rwkv, []string{"rwkv", "falcon"}}, // RWKV
	14: { // PHOENIX
		layout{start: system, mark: ": <s>", open: ": <s>", after: always("</s>")}.render,
		[]string{"phoenix", "ReaLM-7b-v1"},
	},
	15: { // ROBIN
		layout{start: systemSep, mark: ":\n", open: ":\n", after: sep}.render,
		[]string{"Robin", "tigerbot"},
	},
	16: { // FALCON_CHAT
		layout{start: systemSepIfMessage, mark: ": ", open: ":", after: sep}.render,
		[]string{"falcon-chat", "openchat_3.5", "tenyxchat"},
	},
	17: {layout{start: systemIfMessage, mark: "\n", after: always("")}.render, []string{"chatglm3"}},       // CHATGLM3
	18: {layout{start: system, mark: ": ", open: ":", after: eitherSep}.render, []string{"deepseek-chat"}}, // DEEPSEEK_CHAT
	19: {metaMath, []string{"metamath"}},                                                                   // METAMATH
	20: {yuan2, []string{"yuan2"}},                                                                         // YUAN2
	21: {gemma, []string{"gemma"}},                                                                         // GEMMA
	22: {cllm, []string{"cllm"}},                                                                           // CLLM
	23: { // DEFAULT
		layout{start: systemLine, mark: ": ", open: ":", after: always("\n")}.render,
		[]string{
			"api_based_default", "bard", "chatgpt", "claude-3-5-sonnet-20240620", "claude-3-5-sonnet-20240620-v2",
			"claude-3-haiku-20240307", "claude-3-opus-20240229", "claude-3-sonnet-20240229", "gemini",
			"gemini-1.5-pro", "gemini-1.5-pro-002-test-sp", "gemini-dev", "gpt-4-turbo-2024-04-09", "gpt-mini",
			"grok-2", "grok-2-mini", "meta-llama-3.1", "meta-llama-3.1-sp", "pplxai", "reka", "steerlm",
		},
	},
}

// style returns how c is laid out, nil if that is not known here, and whether
// there is a place for a system text.
func (c *conv) style() (render style, placesSystem bool) {
	n := c.styleNumber()
	if n < 1 || n >= len(styles) {
		return nil, false
	}
	return styles[n].style, n != 21 && strings.Contains(c.SystemTemplate, systemPlace)
}

// styleNumber returns the number that c's style has today, 0 if that cannot be
// told. A worker sends the number of its own version: since July 2023 those
// from 1 to 7 have stayed, and Llama 3 moved all behind it by one. A template
// of FastChat's own has the same style in each version; for others the number
// has to do, where it can hardly mean two things.
func (c *conv) styleNumber() int {
	if c.SepStyle <= 7 || c.SystemMessageVision != nil {
		return c.SepStyle
	}
	for n, s := range styles {
		if !slices.Contains(s.templates, c.Name) {
			continue
		}
		if c.SepStyle == n || c.SepStyle == n-1 || c.SepStyle == n-2 && c.Name == "cllm" { // Gemma moved it, too
			return n
		}
		return 0
	}
	switch c.SepStyle {
	case 8, 10, 21, 23: // of one model alone, or nothing, in versions before
		return c.SepStyle
	}
	return 0
}
