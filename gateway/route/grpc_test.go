package route

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"dragoman/adapters/frame"
	"dragoman/adapters/miigrpc"
	"dragoman/adapters/protobuf"
	"dragoman/gateway/config"
)

// A backend whose adapter speaks gRPC gets a client that does.
func TestGRPCBackend(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 || r.Header.Get("Authorization") != "Bearer KEY" {
			t.Errorf("%s with %v", r.Proto, r.Header)
		}
		reply := protobuf.AppendText(protobuf.AppendText(nil, 1, "Hello"), 2, "length")
		message := protobuf.AppendBytes(nil, 1, reply)
		_, _ = w.Write(frame.AppendGRPC(nil, message))
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	table := one(t, miigrpc.Adapter{}, config.Backend{URL: server.URL, Key: "KEY", Template: "chatml"})
	s, err := pick(t, table, "m").Open(t.Context(), chat("Hi"))
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, s); got != "Hello" {
		t.Errorf("got %q", got)
	}
}
