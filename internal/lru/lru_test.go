package lru

import "testing"

func TestPut_EvictsTheLeastRecentlyUsed(t *testing.T) {
	cache := New[string, int](10)
	cache.Put("a", 1, 4)
	cache.Put("b", 2, 4)
	if _, ok := cache.Get("a"); !ok {
		t.Fatal("a is gone before the cache was full")
	}
	cache.Put("c", 3, 4)

	for key, want := range map[string]bool{"a": true, "b": false, "c": true} {
		if _, ok := cache.Get(key); ok != want {
			t.Errorf("%s kept = %v, want %v", key, ok, want)
		}
	}
	if got := cache.Weight(); got != 8 {
		t.Errorf("weight = %d, want 8", got)
	}
}

func TestPut_ReplacesAndCountsOnce(t *testing.T) {
	cache := New[string, int](10)
	cache.Put("a", 1, 9)
	cache.Put("a", 2, 3)
	if got, _ := cache.Get("a"); got != 2 {
		t.Errorf("a = %d, want 2", got)
	}
	if got := cache.Weight(); got != 3 {
		t.Errorf("weight = %d, want 3", got)
	}
	cache.Delete("a")
	cache.Delete("a")
	if got := cache.Weight(); got != 0 {
		t.Errorf("weight after delete = %d, want 0", got)
	}
}

func TestPut_TooHeavyDropsTheOldValueToo(t *testing.T) {
	cache := New[string, int](10)
	cache.Put("a", 1, 5)
	cache.Put("a", 2, 11)
	if got, ok := cache.Get("a"); ok {
		t.Errorf("a = %d, want nothing: the old value is no longer true and the new one does not fit", got)
	}
}
