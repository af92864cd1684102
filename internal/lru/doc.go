// Package lru is a cache bounded by the bytes its entries weigh. The entry that was asked for least recently leaves
// first.
package lru
