package sigv4

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// domains are where AWS's own hosts are.
var domains = []string{
	".amazonaws.com", ".amazonaws.com.cn", ".amazonaws.eu", ".api.aws", ".api.amazonwebservices.com.cn", ".api.amazonwebservices.eu",
}

var region = regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+)+-[0-9]+$`)

// RegionOf returns the region that the host of a URL names, as AWS's own hosts
// and private endpoints do: eu-west-1 for bedrock-runtime.eu-west-1.amazonaws.com
// and for vpce-1-2.bedrock-runtime.eu-west-1.vpce.amazonaws.com. "" is none.
func RegionOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if !slices.ContainsFunc(domains, func(domain string) bool { return strings.HasSuffix(host, domain) }) {
		return ""
	}
	labels := strings.Split(host, ".")
	for _, label := range slices.Backward(labels) {
		if region.MatchString(label) {
			return label
		}
	}
	return ""
}
