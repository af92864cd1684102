package server

import (
	"slices"
	"strconv"
	"strings"
)

// The media types a result can have.
const (
	mediaJSON = "application/json"
	mediaYAML = "application/yaml"
	mediaText = "text/plain"
)

// offers are the media types in the order that is preferred where the client has no preference.
var offers = []string{mediaJSON, mediaYAML, mediaText}

// acceptable returns the offered media types that an Accept header allows, the best one first.
func acceptable(accept []string) []string {
	ranges := parseList(strings.Join(accept, ","))
	if len(ranges) == 0 {
		return []string{mediaJSON}
	}
	quality := map[string]float64{}
	var allowed []string
	for _, offer := range offers {
		if quality[offer] = qualityOf(offer, ranges); quality[offer] > 0 {
			allowed = append(allowed, offer)
		}
	}
	slices.SortStableFunc(allowed, func(a, b string) int {
		switch {
		case quality[a] > quality[b]:
			return -1
		case quality[a] < quality[b]:
			return 1
		default:
			return 0
		}
	})
	return allowed
}

// qualityOf is the quality of the most specific range that matches, or 0.
func qualityOf(media string, ranges []weighted) float64 {
	kind, _, _ := strings.Cut(media, "/")
	quality, specificity := 0.0, 0
	for _, r := range ranges {
		matched := 0
		switch r.value {
		case media:
			matched = 3
		case kind + "/*":
			matched = 2
		case "*/*":
			matched = 1
		}
		if matched > specificity {
			quality, specificity = r.quality, matched
		}
	}
	return quality
}

// wantsGzip says whether an Accept-Encoding header prefers gzip over no coding at all.
func wantsGzip(acceptEncoding []string) bool {
	gzip, identity, other := -1.0, -1.0, -1.0
	for _, coding := range parseList(strings.Join(acceptEncoding, ",")) {
		switch coding.value {
		case "gzip", "x-gzip":
			gzip = coding.quality
		case "identity":
			identity = coding.quality
		case "*":
			other = coding.quality
		}
	}
	if gzip < 0 {
		gzip = other
	}
	return gzip > 0 && gzip >= identity
}

// weighted is an element of a list header with its quality.
type weighted struct {
	value   string // in lower case
	quality float64
}

// maxListElements bounds the work on a header; real ones have a dozen elements.
const maxListElements = 100

func parseList(header string) []weighted {
	var list []weighted
	for element := range strings.SplitSeq(header, ",") {
		value, parameters, _ := strings.Cut(element, ";")
		value = strings.ToLower(strings.TrimSpace(value))
		if value == "" {
			continue
		}
		if len(list) == maxListElements {
			break
		}
		list = append(list, weighted{value, parseQuality(parameters)})
	}
	return list
}

// parseQuality returns the q parameter, 1 where there is none and 0 where it is not a quality.
func parseQuality(parameters string) float64 {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			quality, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil || !(quality >= 0 && quality <= 1) {
				return 0
			}
			return quality
		}
	}
	return 1
}
