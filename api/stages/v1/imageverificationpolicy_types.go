package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ImageVerificationPolicySpec says which images have to be signed by whom.
type ImageVerificationPolicySpec struct {
	// images that the policy governs, as globs over fully qualified references: * is one segment, ** any number.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=1024
	// +listType=atomic
	// +required
	Images []string `json:"images"`

	// skip are images that this policy does not govern although images has them.
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=1024
	// +listType=atomic
	// +optional
	Skip []string `json:"skip,omitempty"`

	// authorities of which one has to have signed an image.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +required
	Authorities []Authority `json:"authorities"`
}

// Authority is who signs.
// +kubebuilder:validation:XValidation:rule="has(self.keyless) != has(self.key)",message="exactly one of keyless and key is needed"
type Authority struct {
	// keyless signatures by an identity.
	// +optional
	Keyless *KeylessAuthority `json:"keyless,omitempty"`
	// key that signs.
	// +optional
	Key *KeyAuthority `json:"key,omitempty"`
}

// KeylessAuthority is an identity and who vouches for it.
// +kubebuilder:validation:XValidation:rule="has(self.issuer) != has(self.issuerRegExp)",message="exactly one of issuer and issuerRegExp is needed"
// +kubebuilder:validation:XValidation:rule="has(self.subject) != has(self.subjectRegExp)",message="exactly one of subject and subjectRegExp is needed"
type KeylessAuthority struct {
	// issuer of the identity.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Issuer string `json:"issuer,omitempty"`
	// issuerRegExp matches the whole issuer.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	IssuerRegExp string `json:"issuerRegExp,omitempty"`
	// subject of the identity.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Subject string `json:"subject,omitempty"`
	// subjectRegExp matches the whole subject.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	SubjectRegExp string `json:"subjectRegExp,omitempty"`
}

// KeyAuthority is a public key.
type KeyAuthority struct {
	// publicKey in PEM.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	// +required
	PublicKey string `json:"publicKey"`
}

// ImageVerificationPolicy says which images have to be signed by whom, in all namespaces.
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=ivp
// +kubebuilder:printcolumn:name="Images",type=string,JSONPath=`.spec.images`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ImageVerificationPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ImageVerificationPolicySpec `json:"spec"`
}

// ImageVerificationPolicyList is a list of ImageVerificationPolicy.
// +kubebuilder:object:root=true
type ImageVerificationPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ImageVerificationPolicy `json:"items"`
}
