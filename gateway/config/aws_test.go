package config

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// How the calls to a backend are signed, by what is written and what stands in
// the environment.
func TestSigning(t *testing.T) {
	f := func(environment, keys string, want Backend) {
		t.Helper()
		t.Setenv("AWS_BEARER_TOKEN_BEDROCK", environment)
		t.Setenv("FIRST_KEY", secret)
		c, err := parse([]byte(`models: {m: {url: "http://h", `+keys+`}}`), "", "testdata", few)
		if err != nil {
			t.Errorf("%s: %v", keys, err)
			return
		}
		got := c.Models[0].Backends[0]
		if got.Key != want.Key || !reflect.DeepEqual(got.AWS, want.AWS) {
			t.Errorf("%s: got key %q, aws %#v", keys, got.Key.Reveal(), got.AWS)
		}
	}
	f("", `adapter: bedrock`, Backend{AWS: &AWS{}})
	f("", `adapter: bedrock, aws: {}`, Backend{AWS: &AWS{}})
	f("", `adapter: bedrock, headers: {X-Amzn-Bedrock-Trace: ENABLED}`, Backend{AWS: &AWS{}})
	f("", `adapter: bedrock, aws: {region: eu-west-1, profile: dev}`, Backend{AWS: &AWS{Region: "eu-west-1", Profile: "dev"}})
	f("", `adapter: bedrock, aws: {access_key_id: AKID, secret_access_key: "${FIRST_KEY}", session_token: token}`,
		Backend{AWS: &AWS{AccessKeyID: "AKID", SecretAccessKey: secret, SessionToken: "token"}})
	f("", `adapter: bedrock, key: own`, Backend{Key: "own"})
	f("", `adapter: bedrock, forward_auth: true`, Backend{})
	f("", `adapter: bedrock, headers: {authorization: Bearer own}`, Backend{})
	f("", `adapter: openai`, Backend{})

	f(" of-the-environment\n", `adapter: bedrock`, Backend{Key: "of-the-environment"})
	f("of-the-environment", `adapter: bedrock, key: own`, Backend{Key: "own"})
	f("of-the-environment", `adapter: bedrock, key_file: key.txt`, Backend{Key: "sk-from-file"})
	f("of-the-environment", `adapter: bedrock, aws: {}`, Backend{AWS: &AWS{}})
	f("of-the-environment", `adapter: bedrock, forward_auth: true`, Backend{})
	f("of-the-environment", `adapter: bedrock, headers: {authorization: Bearer own}`, Backend{})
	f("of-the-environment", `adapter: openai`, Backend{})

	t.Setenv("AWS_BEARER_TOKEN_BEDROCK", secret+"\n"+secret)
	_, err := parse([]byte(`models: {m: {url: "http://h", adapter: bedrock}}`), "", "testdata", few)
	if err == nil || !strings.Contains(err.Error(), "AWS_BEARER_TOKEN_BEDROCK") || strings.Contains(err.Error(), secret) {
		t.Errorf("a key of two lines: %v", err)
	}
}

// BC-084, AWS's credentials.
func TestBC084AWSSecretsAreNotPrinted(t *testing.T) {
	c, err := parse([]byte(`models: {m: {adapter: bedrock, url: "http://h",
  aws: {access_key_id: AKIDEXAMPLE, secret_access_key: wJalrXUtn, session_token: FwoGZXIv}}}`), "", ".", few)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		shown := fmt.Sprintf(verb, *c.Models[0].Backends[0].AWS)
		for _, s := range []string{"AKIDEXAMPLE", "wJalrXUtn", "FwoGZXIv", fmt.Sprintf("%x", "wJalrXUtn")} {
			if strings.Contains(shown, s) {
				t.Errorf("%s: %s", verb, shown)
			}
		}
	}
}
