-- returning: single
-- repository: com.example.shop.Reports
-- parameters:
--   since: instant
--   until: instant
-- annotations:
--   - type: java.lang.Deprecated
--     members:
--       - key: since
--         value: "2.0"
-- resultRowType: bigdecimal
SELECT /*+ reports are slow; this hint stays with the SQL */ sum(l.quantity * p.price)
  FROM orders o
  JOIN order_lines l ON l.order_id = o.id
  JOIN products p ON p.id = l.product_id
 WHERE o.placed_at BETWEEN :since AND :until;
