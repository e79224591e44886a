// Package yamlstrict decodes YAML nodes into plain Go types and reports
// everything that does not fit, all at once and each with its path: unknown
// keys, keys written twice, wrong types. It knows no meaning of any value: what
// may stand where beyond types is checked by its callers.
//
//	var c struct {
//		Listen []string      `yaml:"listen"`
//		Idle   time.Duration `yaml:"idle"`
//	}
//	errs := yamlstrict.Decode(node, "", &c)
//	// errs[0]: lisen: unknown key, did you mean "listen"? (line 1)
package yamlstrict
