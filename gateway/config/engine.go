package config

import (
	"slices"
	"strconv"
	"strings"

	"dragoman/adapters/yamlstrict"
	"dragoman/gateway/models"
)

// Words that the engine's flags take (dragoman-engine -help).
var (
	devices         = []string{"auto", "cpu", "vulkan", "cuda", "metal"}
	cacheTypes      = []string{"f16", "bf16", "f32", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl"}
	flashAttentions = []string{"auto", "on", "off"}
	ropeScalings    = []string{"model", "none", "linear", "yarn"}
)

const builtinModel = "builtin:stories"

// engineModel finds the file of the model, unless that is part of the engine.
func (p *parser) engineModel(path string, e *Engine) {
	if e.Model == "" {
		p.bad(path, "is missing: a .gguf file, a model that dragoman pull has downloaded, or %s", builtinModel)
		return
	}
	if strings.HasPrefix(e.Model, "builtin:") {
		if e.Model != builtinModel {
			p.bad(path, "no built-in model %s%s", p.env.shown(e.Model), yamlstrict.Suggest(e.Model, []string{builtinModel}))
		}
		return
	}
	ref, err := models.Parse(e.Model)
	if err == nil && ref.Path != "" {
		e.Model = p.file(path, e.Model)
		return
	}
	file := ""
	if err == nil {
		file, err = models.Find(models.Dir(), ref)
	}
	if err != nil {
		p.bad(path, "%s", strings.Join(strings.Fields(err.Error()), " "))
	}
	e.Model = file
}

// computing checks how an engine is to compute.
func (p *parser) computing(path string, e *Engine) {
	for _, f := range []struct {
		key, word string
		words     []string
	}{
		{"device", e.Device, devices},
		{"cache_type_k", e.CacheTypeK, cacheTypes},
		{"cache_type_v", e.CacheTypeV, cacheTypes},
		{"flash_attention", e.FlashAttention, flashAttentions},
		{"rope_scaling", e.RopeScaling, ropeScalings},
	} {
		if f.word != "" && !slices.Contains(f.words, f.word) {
			p.bad(path+"."+f.key, "no %s%s", p.env.shown(f.word), yamlstrict.Suggest(f.word, f.words))
		}
	}
	if strings.Contains(e.CacheTypeV, "q") && e.FlashAttention == "off" {
		p.bad(path+".cache_type_v", "%s needs flash attention, which is off", p.env.shown(e.CacheTypeV))
	}
	if _, err := strconv.ParseUint(e.GPULayers, 10, 16); err != nil && e.GPULayers != "" && e.GPULayers != "auto" {
		p.bad(path+".gpu_layers", "must be auto or a number from 0 to 65535, not %s", p.env.shown(e.GPULayers))
	}
	for i, n := range []float64{e.RopeFreqBase, e.RopeFreqScale} {
		if !(n >= 0) {
			p.bad(path+"."+[]string{"rope_freq_base", "rope_freq_scale"}[i], "must be 0 or more")
		}
	}
}
