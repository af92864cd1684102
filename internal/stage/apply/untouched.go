package apply

import "github.com/stagewright/stagewright/internal/stage/inventory"

// Untouched says from metadata alone whether an object is as it was applied, without knowing what that was. Where it is not
// known it says no.
func Untouched(entry inventory.Entry, live inventory.Live, owner inventory.Owner) bool {
	applied := parseFingerprint(entry.Fingerprint).live
	labelled, ok := live.Owner()
	return applied != "" && entry.UID == live.UID && !live.Deleting && applied == managedPrint(live.Managed) &&
		ok && labelled.Namespace == owner.Namespace && labelled.Name == owner.Name
}
