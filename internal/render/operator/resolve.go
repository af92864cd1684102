package operator

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	renderv1 "github.com/stagewright/stagewright/api/render/v1"
	"github.com/stagewright/stagewright/internal/jsonnet"
	"github.com/stagewright/stagewright/internal/kube/objectwatch"
	"github.com/stagewright/stagewright/internal/kube/reconcile"
)

// resolve gives the variables their values. ConfigMaps and Secrets are read, and watched, as the snippet's ServiceAccount.
func (c *snippets) resolve(ctx context.Context, s *scope) (reconcile.Outcome, error) {
	r := &resolution{snippets: c, scope: s, objects: map[objectwatch.Object]client.Object{}, texts: map[textKey]string{}}
	if s.snippet.Spec.Output == renderv1.OutputSource {
		c.watches.Set(client.ObjectKeyFromObject(s.snippet), nil)
		return reconcile.Next(), nil
	}
	s.versions = map[string]string{}
	var err error
	if s.external, err = r.bindings(ctx, s.snippet.Spec.ExternalVariables); err == nil {
		s.arguments, err = r.bindings(ctx, s.snippet.Spec.TLAs)
	}
	// Watched even when something is missing: that it is there now is the news that is waited for.
	if told := c.watches.Set(client.ObjectKeyFromObject(s.snippet), r.needs); !told {
		s.recheck = true
	}
	return reconcile.Next(), err
}

// textKey names a value.
type textKey struct {
	kind objectwatch.Kind
	renderv1.KeyReference
}

// resolution reads each object once.
type resolution struct {
	*snippets
	scope   *scope
	objects map[objectwatch.Object]client.Object
	texts   map[textKey]string // what was read, by what names it: any number of variables share one value
	needs   []objectwatch.Need
}

func (r *resolution) bindings(ctx context.Context, variables []renderv1.Variable) (map[string]jsonnet.Binding, error) {
	bindings := make(map[string]jsonnet.Binding, len(variables))
	for _, variable := range variables {
		switch {
		case variable.Value != nil:
			bindings[variable.Name] = jsonnet.Binding{Kind: jsonnet.BindString, Text: *variable.Value}
		case variable.Code != nil:
			bindings[variable.Name] = jsonnet.Binding{Kind: jsonnet.BindCode, Text: *variable.Code}
		case variable.ValueFrom != nil:
			text, err := r.value(ctx, variable.ValueFrom)
			if err != nil {
				return nil, fmt.Errorf("variable %s: %w", variable.Name, err)
			}
			bindings[variable.Name] = jsonnet.Binding{Kind: jsonnet.BindString, Text: text}
		}
	}
	return bindings, nil
}

// value reads one key.
func (r *resolution) value(ctx context.Context, from *renderv1.VariableSource) (string, error) {
	if ref := from.ConfigMapKeyRef; ref != nil {
		found, err := r.object(ctx, objectwatch.ConfigMap, ref.Name, &corev1.ConfigMap{})
		if err != nil {
			return "", err
		}
		settings, _ := found.(*corev1.ConfigMap)
		if text, ok := settings.Data[ref.Key]; ok {
			return text, nil
		}
		if data, ok := settings.BinaryData[ref.Key]; ok {
			text, _ := r.text(objectwatch.ConfigMap, ref, data)
			return text, nil
		}
		return "", r.missing("ConfigMap %s has no key %q", ref.Name, ref.Key)
	}
	ref := from.SecretKeyRef
	found, err := r.object(ctx, objectwatch.Secret, ref.Name, &corev1.Secret{})
	if err != nil {
		return "", err
	}
	secret, _ := found.(*corev1.Secret)
	data, ok := secret.Data[ref.Key]
	if !ok {
		return "", r.missing("Secret %s has no key %q", ref.Name, ref.Key)
	}
	text, isNew := r.text(objectwatch.Secret, ref, data)
	if isNew {
		r.scope.secrets = append(r.scope.secrets, text)
	}
	return text, nil
}

// text makes a string of a value, once.
func (r *resolution) text(kind objectwatch.Kind, ref *renderv1.KeyReference, data []byte) (text string, isNew bool) {
	key := textKey{kind, *ref}
	text, known := r.texts[key]
	if !known {
		text = string(data)
		r.texts[key] = text
	}
	return text, !known
}

// object reads an object, notes that it is needed, and what its version was.
func (r *resolution) object(
	ctx context.Context, kind objectwatch.Kind, name string, empty client.Object,
) (client.Object, error) {
	s := r.scope
	id := objectwatch.Object{Account: s.account, Kind: kind, Namespace: s.snippet.Namespace, Name: name}
	if known, ok := r.objects[id]; ok {
		return known, nil
	}
	err := s.client.Get(ctx, types.NamespacedName{Namespace: id.Namespace, Name: name}, empty)
	if apierrors.IsNotFound(err) {
		r.needs = append(r.needs, objectwatch.Need{Object: id})
		return nil, r.missing("%s %s does not exist", string(kind), name)
	}
	if err != nil {
		resource := map[objectwatch.Kind]string{objectwatch.ConfigMap: "configmaps", objectwatch.Secret: "secrets"}[kind]
		return nil, r.tenantError(s, access{"get", resource, id.Namespace, name}, err)
	}
	r.objects[id] = empty
	r.needs = append(r.needs, objectwatch.Need{Object: id, Version: empty.GetResourceVersion()})
	if kind == objectwatch.Secret {
		s.versions[name] = fmt.Sprintf("%s %s", empty.GetUID(), empty.GetResourceVersion())
	}
	return empty, nil
}

func (r *resolution) missing(format string, args ...any) error {
	return reconcile.Waiting(r.later(), renderv1.ReasonSourceNotReady, fmt.Errorf(format, args...))
}
