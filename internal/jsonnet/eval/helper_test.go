package eval_test

import "crypto/sha256"

func sum(content string) [sha256.Size]byte { return sha256.Sum256([]byte(content)) }
