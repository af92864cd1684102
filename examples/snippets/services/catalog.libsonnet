// Who owns which services, and what each needs. Sizes are words, so that a change of policy is a change in one place.
{
  sizes: {
    small: { replicas: 2, cpu: '100m', memory: '128Mi' },
    medium: { replicas: 3, cpu: '250m', memory: '512Mi' },
    large: { replicas: 6, cpu: '1', memory: '2Gi' },
  },

  teams: {
    accounts: ['consent', 'credentials', 'directory', 'invitations', 'login', 'mfa', 'profile', 'roles', 'sessions', 'signup'],
    catalog: ['attributes', 'brands', 'categories', 'import', 'media', 'pricing', 'products', 'reviews', 'search', 'stock'],
    checkout: ['addresses', 'basket', 'coupons', 'giftcards', 'orders', 'quotes', 'returns', 'shipping', 'tax', 'wishlist'],
    insight: ['alerts', 'audit', 'cohorts', 'events', 'exports', 'funnels', 'ingest', 'metrics', 'reports', 'sampling'],
    messaging: ['bounce', 'campaigns', 'chat', 'email', 'feed', 'inbox', 'push', 'sms', 'templates', 'webhooks'],
    payments: ['billing', 'capture', 'disputes', 'fraud', 'invoices', 'ledger', 'payouts', 'refunds', 'subscriptions', 'wallet'],
  },

  // Services that are not small.
  size: {
    'catalog-products': 'large',
    'catalog-search': 'large',
    'checkout-basket': 'medium',
    'checkout-orders': 'large',
    'insight-ingest': 'large',
    'messaging-email': 'medium',
    'payments-ledger': 'medium',
  },
}
