module dragoman

go 1.27.0

require (
	github.com/ardanlabs/jinja v1.12.0
	github.com/coder/websocket v1.8.15
	github.com/ebitengine/purego v0.10.0
	github.com/hybridgroup/yzma v1.26.1
	github.com/jupiterrider/ffi v0.7.0
	github.com/tidwall/gjson v1.20.3
	github.com/valyala/fasthttp v1.78.0
	golang.org/x/sys v0.49.0
	gopkg.in/yaml.v3 v3.0.1
)

require (
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/molecule-man/go-brrr v1.3.1 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.3.0 // indirect
	github.com/valyala/bytebufferpool v1.0.0 // indirect
)
